export type RetryOptions = {
    /** Maximum number of attempts. Default: 4 */
    attempts?: number;
    /** Longest pause that the client accepts, in seconds. If the server requests a longer one, the error is thrown. Default: 60 */
    maxPauseSeconds?: number;
    /** Called before each pause. */
    onRetry?: (retry: {
        attempt: number;
        seconds: number;
        reason: string;
    }) => void;
};
export type Send = (url: string, init: RequestInit) => Promise<Response>;
/**
 * Sends a request until it succeeds, fails for good, or the attempts are used up. `makeInit` is called for each attempt,
 * because the body of an attempt cannot be sent again.
 */
export declare function sendWithRetries(send: Send, url: string, makeInit: () => RequestInit | Promise<RequestInit>, { attempts, maxPauseSeconds, onRetry }?: RetryOptions): Promise<Response>;
/** Half a second, doubled with each attempt, with jitter so that many clients do not return together. */
export declare const backoff: (attempt: number) => number;
/** Marks an error that no repetition avoids, such as one of the function that returns the token. */
export declare function asFinal(error: unknown): Error;
export declare const isFinal: (error: Error) => boolean;
export declare const asError: (error: unknown) => Error;
/** The message of an error of `fetch`, which hides the reason in `cause`. */
export declare function messageOf(error: Error): string;
/** Waits. @throws the reason of the signal if it aborts. */
export declare function sleep(ms: number, signal?: AbortSignal): Promise<void>;
