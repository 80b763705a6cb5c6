/**
 * `tfcore-wasm/inline`: the whole package in one file, with the build `simd` inside. For a `<script
 * type="module">` from a CDN, pages without a server, bundles that are to be one file, and hosts where no
 * file can be read. It has no threads, and takes half again as many bytes as the file of the build.
 */
export * from './index.js';
