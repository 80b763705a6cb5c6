/**
 * The package's version; npm/package.json and TF_Version() (src/c_api/c_api_graph.c) say the same, and a test
 * holds them together.
 */
export const VERSION = '0.1.0';
