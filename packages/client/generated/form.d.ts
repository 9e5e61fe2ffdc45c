/** A form: the description of what is sent, and files by the names of their parts. */
export declare class Form<Data> {
    readonly data: Data;
    readonly files: Readonly<Record<string, Blob>>;
    /** @param files a part's name becomes the name of its file, unless the file has a name (`File`). */
    constructor(data: Data, files: Readonly<Record<string, Blob>>);
    /** Returns the form as `fetch` sends it. Depot reads the parts in order and needs the description first. */
    toFormData(): FormData;
}
