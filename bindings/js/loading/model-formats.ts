/** The formats of models, which load() and save() import when they are called: a third of what a page would load otherwise. */
export { loadModel } from './open-model.js';
export { filesOfModel, writeFiles } from './save-model.js';
