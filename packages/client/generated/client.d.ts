import { type Client } from 'openapi-fetch';
import { type AdvisoriesByHash } from './advisories.js';
import { type Change, type ChangesOptions } from './changes.js';
import type { paths } from './generated/api.js';
import type { Call, DryCall, Schemas } from './operations.js';
import { type Lists } from './pages.js';
import { type NewVersion, type PublishOptions } from './publish.js';
import { type Resolution, type ResolveRequest } from './resolve.js';
import { type RetryOptions, type Send } from './retry.js';
import { type Upload, type UploadOptions } from './upload.js';
/** A token, or a function that returns the current one. */
export type TokenSource = string | (() => string | undefined | Promise<string | undefined>);
export type DepotOptions = {
    /** URL of the instance, such as `https://depot.example`. */
    url: string;
    /** Access token. Default: requests are anonymous. */
    token?: TokenSource;
    /** Name and contact of your program, such as `my-tool/1.0 (me@example.org)`. Browsers send their own. */
    userAgent?: string;
    /** Function that sends requests. Default: `fetch` of the runtime */
    fetch?: typeof globalThis.fetch;
    /** When and how often failed requests are repeated. */
    retry?: RetryOptions;
    /** Seconds until a request without files, or with a part of an upload, is given up. Default: 60 */
    timeoutSeconds?: number;
};
/** What the other parts of the client use to send a request. */
export type Transport = {
    baseUrl: string;
    /** Sends one request with the credentials of the client, without retries. */
    send: Send;
    /** Like `send`, for a response that does not end. */
    open: Send;
    retry: RetryOptions;
};
export type Depot = Lists & {
    get: Call<'get'>;
    post: Call<'post'>;
    put: Call<'put'>;
    patch: Call<'patch'>;
    delete: Call<'delete'>;
    /** Checks a request completely and stores nothing. Errors are thrown as for the request itself. */
    dryRun: {
        post: DryCall<'post'>;
        patch: DryCall<'patch'>;
    };
    /** The `openapi-fetch` client, for programs that read headers: its functions return `{ data, error, response }`. */
    api: Client<paths>;
    /** Uploads a file in parts and continues after failures. `upload:ID` in `file_parts` of a version names the upload. */
    upload(file: Blob, options?: UploadOptions): Promise<Upload>;
    /** Publishes a version with its files; large files are uploaded first. */
    publish(version: NewVersion, files: readonly File[], options?: PublishOptions): Promise<Schemas['Version']>;
    /** Follows the changes of the public catalogue: first those since a cursor, then new ones as they happen. */
    changes(options?: ChangesOptions): AsyncGenerator<Change, void>;
    /** Chooses versions for projects and for everything that they require. `store` makes packs of the answer. */
    resolve(request: ResolveRequest, options?: {
        store?: boolean;
    }): Promise<Resolution>;
    /** Finds the published advisories about files by their SHA-1 or SHA-512. Hashes without one are not in the result. */
    matchAdvisories(hashes: readonly string[]): Promise<AdvisoriesByHash>;
    transport: Transport;
};
/** Creates a client of an instance. */
export declare function createDepot(options: DepotOptions): Depot;
