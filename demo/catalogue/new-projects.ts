// Some projects of the demo catalogue are new: they wait for a review, were sent back, or are drafts that nobody else sees.

import type { DemoProject } from '#demo/catalogue/catalogue.ts'
import { HOUR_MS } from '#lib/time.ts'

export type SeededStatus = DemoProject['status'] | 'draft' | 'rejected'
export type SeededProject = Omit<DemoProject, 'status'> & { status: SeededStatus }

/** Of so many projects one waits for a review, one was sent back and one is a draft, unless it is a mod; where in the count they stand. */
const WAITING = { every: 10, at: 1 }
const REJECTED = { every: 40, at: 14 }
const DRAFT = { every: 15, at: 7 }

/**
 * The project as it is written. Mods never wait, because other projects depend on them; what waits has one version,
 * from the last three days, that nobody has downloaded.
 */
export function asSeeded(project: DemoProject, index: number, until: Date): SeededProject {
  if (project.projectType === 'mod') {
    return project.status === 'processing' ? { ...project, status: 'approved' } : project
  }
  if (index % DRAFT.every === DRAFT.at) return asNew(project, 'draft', index, until)
  if (index % REJECTED.every === REJECTED.at) return asNew(project, 'rejected', index, until)
  const waits = index % WAITING.every === WAITING.at || project.status === 'processing'
  return waits ? asNew(project, 'processing', index, until) : project
}

function asNew(
  project: DemoProject,
  status: 'draft' | 'processing' | 'rejected',
  index: number,
  until: Date,
): SeededProject {
  const published = new Date(until.getTime() - (1 + ((index * 13) % 71)) * HOUR_MS)
  const [first] = project.versions
  return {
    ...project,
    status,
    published,
    downloads: 0,
    follows: 0,
    versions: first === undefined ? [] : [{ ...first, published, downloads: 0, featured: false }],
  }
}
