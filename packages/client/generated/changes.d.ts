import type { Transport } from './client.js';
import type { Call, Data } from './operations.js';
/** An object that became public, changed or was removed. `cursor` continues after it. */
export type Change = Data<'/v3/changes', 'get'>['changes'][number];
export type ChangesOptions = {
    /** Cursor of the last change that you have. Default: the whole public catalogue first */
    since?: string;
    kinds?: readonly Change['kind'][];
    /** Whether to wait for new changes. Default: true */
    follow?: boolean;
    /**
     * Called when the cursor has expired, with the reason: delete your copy, the changes begin at the start again. Default: the
     * error is thrown
     */
    onExpired?: (reason: string) => void | Promise<void>;
    /** Pause between two requests while the stream is not available. Default: 30 */
    pollSeconds?: number;
    signal?: AbortSignal;
};
type Feed = {
    get: Call<'get'>;
    transport: Transport;
};
export declare function followChanges(feed: Feed, options?: ChangesOptions): AsyncGenerator<Change, void>;
export {};
