import type { ErrorCode } from './generated/tables.js';
export type { ErrorCode };
/** One of several problems of a request. */
export type Problem = {
    error: ErrorCode | (string & {});
    field?: string;
    message: string;
};
/** A response that is an error. */
export declare class DepotError extends Error {
    readonly name = "DepotError";
    /** HTTP status. */
    readonly status: number;
    /** Error code; `unknown` if the response is not from Depot, for example from a proxy. */
    readonly error: ErrorCode | 'unknown';
    /** Details for programs, such as `field`: the path of the invalid value. */
    readonly details: Readonly<Record<string, unknown>>;
    /** All problems of the request; the first one is that of `details`. */
    readonly errors: readonly Problem[];
    /** ID of the request in the operator's log. */
    readonly requestId: string | undefined;
    /** Seconds after which the server accepts the request again, if it said so. */
    readonly retryAfter: number | undefined;
    constructor(response: Response, body: unknown);
    /** Path of the invalid value, such as `dependencies.3.project_id`. */
    get field(): string | undefined;
}
/** Returns the error of a response, whatever its body is. */
export declare function errorOf(response: Response): Promise<DepotError>;
/** Returns the seconds of `Retry-After`, which is a number or a date. */
export declare function retryAfterSeconds(response: Response): number | undefined;
