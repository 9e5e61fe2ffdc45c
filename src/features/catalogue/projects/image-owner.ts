// Lets users upload images for a project's description.
import { requireMember } from '#features/basics/access/project-policy.ts'
import type { ImageOwner } from '#features/basics/content-images/image-target.ts'
import { getProjectAsMember, type ProjectReader } from './lookup/project-cache.ts'

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
