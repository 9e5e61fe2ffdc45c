// Requests for the tests of all operations.
import { type Declared, PICTURE, picture, type Sample, send, theAnswer, thing } from '#test/api/operations/sample.ts'

export const SAMPLES: Record<string, Sample> = {
  createImage: {
    query: async (w) => ({ ext: 'png', context: 'project', project_id: await w.id('project') }),
    raw: picture,
  },
}

export const DECLARED: Record<string, Declared> = {
  createImage: {
    view: theAnswer,
    fields: {
      context: send('version', { needs: { project_id: undefined } }),
      project_id: send(thing('project')),
      version_id: send(thing('version'), { needs: { context: 'version', project_id: undefined } }),
      report_id: send(thing('report'), { needs: { context: 'report', project_id: undefined } }),
      thread_message_id: send(thing('message'), { needs: { context: 'thread_message', project_id: undefined } }),
    },
    unseen: { ext: PICTURE },
  },
}
