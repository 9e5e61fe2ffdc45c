// Lets users upload images for the description of a project and the changelog of a version.
import { requireMember } from '#features/basics/access/project-policy.ts'
import type { ImageOwner } from '#features/basics/content-images/image-target.ts'
import { getProjectAsMember, type ProjectReader } from '#features/catalogue/projects/lookup/project-cache.ts'
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

/** Allows members of the project and moderators. */
export function projectImages(reader: ProjectReader): ImageOwner {
  return {
    scope: 'PROJECT_WRITE',
    resolve: async (viewer, name) => {
      const { project, membership } = await getProjectAsMember(reader, viewer, name)
      requireMember(viewer, membership)
      return project.id
    },
  }
}
