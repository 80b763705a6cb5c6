/**
 * `tfcore-wasm/inline`: the whole package in one file, with the build `simd` embedded. For a `<script
 * type="module">` from a CDN, pages without a server, single-file bundles, and hosts that cannot read files.
 * It has no threads, and its size is one and a half times that of the build.
 */
export * from './index.js';
