// Operator routes for blocks of sign-ups.
import { operatorOf } from '#features/basics/audit/actor.ts'
import { parseId } from '#lib/ids.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import { IdParams, PageQuery } from '#platform/http/query-values.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { createBlocks } from './create-blocks.ts'
import { deleteBlock } from './delete-block.ts'
import { listBlocks } from './queries.ts'
import { SignUpBlocksInput, toNewBlocks } from './requests.ts'
import { BlockListView, NewBlocksView, toBlockView } from './views.ts'

export function signUpBlockRoutes(app: App, deps: Pick<Deps, 'db' | 'cache' | 'now'>): void {
  mountInternal(app, (scope) => {
    scope.get('/admin/sign-up-blocks', {
      config: { auth: 'operator' },
      schema: {
        operationId: 'listSignUpBlocks',
        summary: 'List the blocks of sign-ups, newest first',
        querystring: PageQuery,
        response: { 200: BlockListView },
      },
      handler: async ({ query: { limit = 100, offset = 0 } }) => {
        const { blocks, total } = await listBlocks(deps.db, new Date(deps.now()), { limit, offset })
        return { total, blocks: blocks.map(toBlockView) }
      },
    })
    scope.post('/admin/sign-up-blocks', {
      config: { auth: 'operator', errors: ['400 LimitReached'] },
      schema: {
        operationId: 'createSignUpBlocks',
        summary: 'Block sign-ups from email domains and address ranges',
        description: 'A domain or range that is blocked already gets the new note and end.',
        body: SignUpBlocksInput,
        response: { 201: NewBlocksView },
      },
      handler: async (req, reply) => {
        const count = await createBlocks(deps, operatorOf(req), toNewBlocks(req.body, deps.now()))
        return reply.status(201).send({ count })
      },
    })
    scope.delete('/admin/sign-up-blocks/:id', {
      config: { auth: 'operator' },
      schema: { operationId: 'deleteSignUpBlock', summary: 'Remove a block of sign-ups', params: IdParams },
      handler: (req): Promise<void> => deleteBlock(deps, operatorOf(req), parseId(req.params.id, 'id')),
    })
  })
}
