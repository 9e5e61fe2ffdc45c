// Forms of the older API. Whether a version is a pack may show only in the name of a file, which comes behind the
// description: then the request is described a second time.
import { type ReceivedFiles, type UploadedPart, withParts } from '#features/catalogue/versions/publish/prepare-files.ts'
import type { Deps } from '#ports/deps.ts'
import { type FieldNames, withFieldNames } from '../error-names.ts'

/** The description in the words of the newer API, with what the names of the files have shown. */
export type Translate = (data: unknown, parts: readonly UploadedPart[]) => Promise<unknown> | unknown

/**
 * Reads a form by `receive`, translated by `translate` for `describe`: before the first file is read, and again behind
 * the last one where their names change what is described. What is staged is discarded when that refuses.
 */
export async function receiveTranslated<Description>(
  deps: Pick<Deps, 'files'>,
  {
    receive,
    translate,
    describe: describeNewer,
    names,
  }: {
    receive: (describe: (data: unknown) => Promise<Description>) => Promise<ReceivedFiles<Description>>
    translate: Translate
    describe: (data: unknown) => Promise<Description>
    /** How errors of `describe` name their fields; those of `translate` are the client's own already. */
    names: FieldNames
  },
): Promise<ReceivedFiles<Description>> {
  const describe = (data: unknown): Promise<Description> => withFieldNames(names, () => describeNewer(data))
  let sent: unknown
  let first: unknown
  const form = await receive(async (data) => {
    sent = data
    first = await translate(data, [])
    return describe(first)
  })
  try {
    const second = await translate(sent, form.parts)
    if (JSON.stringify(second) === JSON.stringify(first)) return form
    return { description: await describe(second), parts: form.parts }
  } catch (error) {
    await withParts(deps, form.parts, async () => {})
    throw error
  }
}
