#include "runtime/call_sites.h"

#include <string.h>

/* `added` is named "caller/x", possibly with a number; helper nodes are named "Func/caller/...". */
static const char *name_in_function(const Node *caller, const Node *added) {
  size_t length = strlen(caller->name);
  bool prefixed = strncmp(added->name, caller->name, length) == 0 && added->name[length] == '/';
  return prefixed ? added->name + length + 1 : added->name;
}

static const char *callers_of(CallSites *sites, const Node *caller) {
  if (sites->callers && sites->caller == caller->id) return sites->callers;
  const CallSite *site = call_sites_find(sites, caller->name);
  sites->caller = caller->id;
  sites->callers = site ? arena_printf(sites->arena, "\n\t [[%s]]%s", site->node, site->callers)
                        : arena_printf(sites->arena, "\n\t [[%s]]", caller->name);
  return sites->callers;
}

static void note(CallSites *sites, const Node *added, const char *name, const char *callers) {
  Status ignored;
  status_init(&ignored);
  CallSite *site = arena_alloc(sites->arena, sizeof *site);
  if (site) *site = (CallSite){arena_strdup(sites->arena, name), callers};
  if (!site || !site->node || !callers || !string_map_set(&sites->nodes, added->name, site, &ignored))
    sites->failed = true;
}

void call_sites_note(CallSites *sites, const Node *caller, const Node *added) {
  note(sites, added, name_in_function(caller, added), callers_of(sites, caller));
}

void call_sites_note_lowered(CallSites *sites, const Node *replaced, const Node *added) {
  const CallSite *site = call_sites_find(sites, replaced->name);
  note(sites, added, site ? site->node : replaced->name, site ? site->callers : "");
}

const CallSite *call_sites_find(const CallSites *sites, const char *node) {
  return sites ? string_map_find(&sites->nodes, node) : NULL;
}

void call_sites_free(CallSites *sites) { string_map_free(&sites->nodes); }
