// Uses the types that openapi-typescript makes of the description, against the address of the first argument.
import type { components, paths } from './memoryd.js'

type Schemas = components['schemas']
type Json<P extends keyof paths, M extends keyof paths[P]> =
  paths[P][M] extends { responses: { 200: { content: { 'application/json': infer A } } } } ? A : never

const base = process.argv[2]

async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await fetch(base + path, { method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as T
}

function expect(ok: boolean, got: unknown): void {
  if (!ok) throw new Error(`got ${JSON.stringify(got)}`)
}

const call: Schemas['CallRequest'] = { tool_name: 'größe', input: { q: 1 }, output: '12 results', create_time: '2025-01-01 00:00:00' }
const request: Schemas['AddRequest'] = { workspace_id: 'typescript', tool_call_results: [call] }
const added = await ask<Schemas['AddResponse']>('POST', '/add_tool_call_result', request)
expect(added.metadata.deduplication_stats.added === 1 && added.metadata.memory_list[0]?.tool_call_results[0]?.score === 1, added)

const names: Schemas['RetrieveRequest'] = { workspace_id: 'typescript', tool_names: ['größe'] }
const got = await ask<Schemas['NamesResponse']>('POST', '/retrieve_tool_memory', names)
expect(got.metadata.memory_list[0]?.when_to_use === 'größe', got)

const calls = '/v1/workspaces/typescript/tools/' + encodeURIComponent('größe') + '/calls'
const listed = await ask<Json<'/v1/workspaces/{workspace}/tools/{tool}/calls', 'get'>>('GET', calls)
expect(listed.calls[0]?.output === '12 results', listed)

const correction: Schemas['Correction'] = { score: 0, evaluation: 'Another library.' }
const path = `${calls}/${listed.calls[0]?.id}/evaluation`
const corrected = await ask<Json<'/v1/workspaces/{workspace}/tools/{tool}/calls/{call}/evaluation', 'put'>>('PUT', path, correction)
expect(corrected.score === 0 && corrected.judgement.by === 'person:unnamed', corrected)
