/** The formats of models, which load() and save() import when they are called: most of the package's JavaScript. */
export { loadModel } from './open-model.js';
export { filesOfModel, writeFiles } from './save-model.js';
