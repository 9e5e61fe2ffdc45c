// The body of a request that contains files.

/** A form: the description of what is sent, and files by the names of their parts. */
export class Form<Data> {
  readonly data: Data
  readonly files: Readonly<Record<string, Blob>>

  /** @param files a part's name becomes the name of its file, unless the file has a name (`File`). */
  constructor(data: Data, files: Readonly<Record<string, Blob>>) {
    this.data = data
    this.files = files
  }

  /** Returns the form as `fetch` sends it. Depot reads the parts in order and needs the description first. */
  toFormData(): FormData {
    const form = new FormData()
    if (this.data !== undefined) form.append('data', JSON.stringify(this.data))
    for (const [name, file] of Object.entries(this.files)) {
      const filename = 'name' in file && typeof file.name === 'string' ? file.name : name
      form.append(name, file, filename)
    }
    return form
  }
}
