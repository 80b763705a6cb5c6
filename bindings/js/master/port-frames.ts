/** What crosses a message port between PortTransport and servePort. */
import type { Parcel } from './transport.js';

export interface RequestFrame extends Parcel {
  readonly id: number;
  readonly method: string;
}

export interface CancelFrame {
  readonly cancel: number;
}

export type ClientFrame = RequestFrame | CancelFrame;

export interface ResponseFrame extends Parcel {
  readonly id: number;
}

/** The status of a failed call: google.rpc.Code and the message. */
export interface ErrorFrame {
  readonly id: number;
  readonly code: number;
  readonly message: string;
}

/** A line of the log of the service's engine. */
export interface LogFrame {
  readonly log: string;
}

/** The service can serve nothing any more: its engine crashed, or could not be started. */
export interface FatalFrame {
  readonly fatal: string;
}

/** The name of a Web Lock that the service holds as long as it lives. */
export interface LockFrame {
  readonly lock: string;
}

export type ServiceFrame = ResponseFrame | ErrorFrame | LogFrame | FatalFrame | LockFrame;
