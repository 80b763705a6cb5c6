/** What a client and a service exchange through a message port, or through a socket (socket-frames.ts). */
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

/** Of ports alone: a line of the log of the service's engine. */
export interface LogFrame {
  readonly log: string;
}

/** Of ports alone: the service can serve nothing any more, because its engine crashed, or could not be started. */
export interface FatalFrame {
  readonly fatal: string;
}

/** Of ports alone: the name of a Web Lock that the service holds as long as it lives. */
export interface LockFrame {
  readonly lock: string;
}

/** How a call ended. */
export type AnswerFrame = ResponseFrame | ErrorFrame;

export type ServiceFrame = AnswerFrame | LogFrame | FatalFrame | LockFrame;
