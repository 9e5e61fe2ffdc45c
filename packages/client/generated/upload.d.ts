import type { Transport } from './client.js';
export type UploadProgress = {
    sent: number;
    total: number;
};
/** Where the client remembers unfinished uploads; `localStorage` is one. */
export type ResumeStore = {
    getItem(key: string): string | null;
    setItem(key: string, value: string): void;
    removeItem(key: string): void;
};
export type UploadOptions = {
    /** Default: the name of the `File` */
    filename?: string;
    /** Called after each part that the server has confirmed. */
    onProgress?: (progress: UploadProgress) => void;
    signal?: AbortSignal;
    /** Remembers the upload, so that another call with the same file continues it. Default: only this call continues it */
    resume?: ResumeStore;
    /** Largest part. Parts are smaller while the connection is slow. Default: 16 MiB */
    partBytes?: number;
    /** Seconds without progress after which the upload fails. Default: 120 */
    patienceSeconds?: number;
};
/** A finished upload: `upload:ID` in `file_parts` names it. */
export type Upload = {
    id: string;
};
export declare const nameOf: (file: Blob) => string | undefined;
/** Uploads a file. @throws DepotError if the server rejects it, and the last error if the connection does not recover. */
export declare function uploadFile(transport: Transport, file: Blob, options?: UploadOptions): Promise<Upload>;
/** Deletes an upload that no version will use. Otherwise it expires. */
export declare function deleteUpload({ baseUrl, send }: Transport, { id }: Upload): Promise<void>;
