/** TaskServices: what a task of a cluster serves: sessions for clients, and parts of other tasks' steps. */
import type { Runtime } from '../engine/runtime.js';
import { DeviceManager } from '../session/device-manager.js';
import type { Serve } from './answer-calls.js';
import { Cluster } from './cluster.js';
import { ClusterTasks } from './cluster-session.js';
import { MasterService } from './master-service.js';
import { WorkerService } from './worker-service.js';

export class TaskServices {
  readonly #master: MasterService;
  readonly #worker: WorkerService;

  /** `task` is '/job:worker/replica:0/task:1', one of the cluster if that has tasks. */
  constructor(
    runtime: Runtime,
    task: string,
    deviceCount: number,
    private readonly cluster: Cluster,
  ) {
    const devices = DeviceManager.open(runtime, task, deviceCount);
    this.#worker = new WorkerService(runtime, devices, cluster);
    this.#master = new MasterService(runtime, devices, new ClusterTasks(this.#worker, cluster, task));
  }

  /** The names of all methods. */
  get methods(): string[] {
    return [...this.#master.table.names, ...this.#worker.table.names];
  }

  readonly serve: Serve = (method, ...call) =>
    (method.includes('/') ? this.#worker : this.#master).table.call(method, ...call);

  /** Ends all sessions and calls, and frees the variables. */
  async close(): Promise<void> {
    await this.#worker.close();
    await this.#master.close();
    this.cluster.close();
  }
}
