// The target of an image upload: the text of a project, version, report or message. The feature that owns the text
// decides whether the caller can add images to it.

import type { ScopeName } from '#features/basics/access/scopes.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { invalidInput } from '#lib/errors.ts'
import { IMAGE_CONTEXTS, type ImageContext, type ImageTarget } from './queries.ts'
import type { ImageQuery } from './requests.ts'

/** The rules of a feature whose texts can contain images. */
export type ImageOwner = {
  /** The scope that is also required to write the text. */
  scope: ScopeName
  /**
   * Returns the ID of the resource with this ID or slug.
   * @throws ApiError 404 if the viewer cannot see it, 403 if they cannot write in it, `invalid_input` if it currently
   * accepts no images.
   */
  resolve(viewer: Viewer, name: string): Promise<string>
}
export type ImageOwners = Readonly<Record<ImageContext, ImageOwner>>

/**
 * Returns the target that a request names; undefined if it names none.
 * @throws ApiError like `ImageOwner.resolve`, and `invalid_input` for the ID of another context.
 */
export async function resolveTarget(
  owners: ImageOwners,
  viewer: Viewer,
  query: ImageQuery,
): Promise<ImageTarget | undefined> {
  const { context } = query
  for (const other of IMAGE_CONTEXTS) {
    const key = `${other}_id` as const
    if (other !== context && query[key] !== undefined)
      throw invalidInput(`${key} must not be set for the context ${context}`, key)
  }
  const name = query[`${context}_id`]
  return name === undefined ? undefined : { context, id: await owners[context].resolve(viewer, name) }
}
