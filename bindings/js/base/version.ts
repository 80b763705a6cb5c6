/**
 * The package's version. npm/package.json and TF_Version() (src/c_api/c_api_graph.c) must agree, which a test
 * checks.
 */
export const VERSION = '0.1.0';
