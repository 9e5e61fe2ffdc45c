// Lets users upload images for a version's changelog.
import { requireMember } from '#features/basics/access/project-policy.ts'
import type { ImageOwner } from '#features/basics/content-images/image-target.ts'
import { parseId } from '#lib/ids.ts'
import { getVersionAsMember, type VersionReader } from './lookup/version-cache.ts'

/** Allows members of the project and moderators. */
export function versionImages(reader: VersionReader): ImageOwner {
  return {
    scope: 'VERSION_WRITE',
    resolve: async (viewer, name) => {
      const { version, membership } = await getVersionAsMember(reader, viewer, parseId(name, 'version_id'))
      requireMember(viewer, membership)
      return version.id
    },
  }
}
