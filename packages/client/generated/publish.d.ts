import type { Depot } from './client.js';
import { Form } from './form.js';
import type { Schemas } from './operations.js';
import type { ResumeStore, Upload, UploadProgress } from './upload.js';
/** A version. `primary_file` is the name of a file (default: the first one); the client sets `file_parts`. */
export type NewVersion = Schemas['VersionCreate'];
export type PublishOptions = {
    signal?: AbortSignal;
    onProgress?: (progress: UploadProgress) => void;
    /** Whether to upload the files in parts. Default: if together they are larger than 16 MiB */
    inParts?: boolean;
};
export type UploadsOptions = {
    signal?: AbortSignal;
    /** Progress of all files together */
    onProgress?: (progress: UploadProgress) => void;
    /** Remembers the upload of a file. */
    resumeOf?: (file: File) => ResumeStore;
};
export declare function publishVersion(depot: Depot, version: NewVersion, files: readonly File[], { signal, onProgress, inParts }?: PublishOptions): Promise<Schemas['Version']>;
/** Returns the largest files that have at least a size. */
export declare function chooseUploads(files: readonly File[], minBytes?: number): File[];
/** Uploads files one after another. */
export declare function uploadAll(depot: Depot, files: readonly File[], { signal, onProgress, resumeOf }?: UploadsOptions): Promise<Map<File, Upload>>;
/** The name of an upload in `file_parts`. */
export declare const partOf: ({ id }: Upload) => string;
/** Returns the body of a request that publishes the version: it names the uploads, and contains the other files. */
export declare function describe({ primary_file, ...rest }: NewVersion, files: readonly File[], uploads: ReadonlyMap<File, Upload>): NewVersion | Form<NewVersion>;
