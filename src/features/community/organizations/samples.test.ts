// Requests for the tests of all operations.
import {
  at,
  type Declared,
  icon,
  ids,
  made,
  PICTURE,
  type Sample,
  send,
  shows,
  slug,
  viewAt,
} from '#test/api/operations/sample.ts'

export const SAMPLES: Record<string, Sample> = {
  listOrganizationProjects: shows('organizationProject'),
  listOrganizations: ids('organization'),
  getProjectOrganization: at('organizationProject'),
  createOrganization: { body: () => ({ slug: slug(), name: 'Lantern makers', description: 'We make lanterns' }) },
  updateOrganization: { body: { name: 'Lamp makers' } },
  addOrganizationProject: { body: async (w) => ({ project_id: await w.id('project') }) },
  removeOrganizationProject: {
    at: { project_id: 'organizationProject' },
    body: async (w) => ({ new_owner: await w.id('owner') }),
  },
  setOrganizationIcon: icon,
}

export const DECLARED: Record<string, Declared> = {
  updateOrganization: {
    view: viewAt('/v3/organization', 'organization'),
    fields: { slug: send(slug), name: send('Lamp makers'), description: send('We make lamps') },
  },
  createOrganization: {
    view: made('/v3/organization'),
    fields: { slug: send(slug), name: send('Lamp makers'), description: send('We make lamps') },
  },
  setOrganizationIcon: { view: viewAt('/v3/organization', 'organization'), unseen: { ext: PICTURE } },
}
