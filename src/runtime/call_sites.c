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

void call_sites_note(CallSites *sites, const Node *caller, const Node *added) {
  Status ignored;
  status_init(&ignored);
  CallSite *site = arena_alloc(sites->arena, sizeof *site);
  if (site) {
    site->node = arena_strdup(sites->arena, name_in_function(caller, added));
    site->callers = callers_of(sites, caller);
  }
  if (!site || !site->node || !site->callers || !string_map_set(&sites->nodes, added->name, site, &ignored))
    sites->failed = true;
}

const CallSite *call_sites_find(const CallSites *sites, const char *node) {
  return sites ? string_map_find(&sites->nodes, node) : NULL;
}

void call_sites_free(CallSites *sites) { string_map_free(&sites->nodes); }
