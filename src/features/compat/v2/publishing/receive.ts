// Reads forms of the v2 API. Sometimes only the name of a file shows that a version is a pack. The files follow the
// description, so the description is then converted again.
import { type ReceivedFiles, type UploadedPart, withParts } from '#features/catalogue/versions/publish/prepare-files.ts'
import type { Deps } from '#ports/deps.ts'
import { type FieldNames, withFieldNames } from '../error-names.ts'

/** Description for the v3 API, converted with the names of the files. */
export type Translate = (data: unknown, parts: readonly UploadedPart[]) => Promise<unknown> | unknown

/**
 * Reads a form by `receive`. Converts the description by `translate` and checks it by `describe`: before the first file,
 * and again after the last file if the names of the files change the result. If that fails, discards the staged files.
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
    /** Field names for errors of `describe`. Errors of `translate` already have v2 names. */
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
