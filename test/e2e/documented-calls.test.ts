import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RECORDED_EXAMPLES } from '../../src/api/generated/recorded-examples.js'
import { openApiDocument } from '../../src/api/openapi.js'
import {
  documentedOperations,
  type OpenApiDocument,
} from '../../src/console/playground/documented.js'
import { plannedRequest } from '../../src/console/playground/request.js'
import { snippetsOf } from '../../src/console/playground/snippets.js'
import { blocksOfPage, fencedBlocks } from '../docs/blocks.js'
import { exampleFile, recordedExample } from './documented/example-file.js'
import { paste, promptedCommands } from './documented/paste.js'
import { ALL_NAMES, type Input, rowOf, SEND, type Step, scenario } from './documented/scenario.js'
import { type Stack, startStack } from './stack.js'

/**
 * Every curl that documents show is pasted into a shell, with this instance's ids in place of the
 * recorded ones, and answers 2xx with what the page shows. `RECORD_EXAMPLES=1` calls each operation
 * as the scenario has it and writes what documents show: src/api/generated/recorded-examples.ts.
 */

const RECORDS = process.env.RECORD_EXAMPLES === '1'

let stack: Stack
let hooks: Server
let hookUrl: string
let steps: ReadonlyMap<string, Step>
const recorded: Record<string, ReturnType<typeof recordedExample>> = {}

/** Without a stack the names of the steps are known all the same. */
const NAMES = ALL_NAMES

beforeAll(async () => {
  hooks = createServer((_request, response) => response.writeHead(204).end())
  await new Promise<void>((resolve) => hooks.listen(0, '127.0.0.1', resolve))
  hookUrl = `http://127.0.0.1:${(hooks.address() as AddressInfo).port}/hooks/countersign`
  stack = await startStack()
  steps = new Map(scenario(stack, hookUrl).map((step) => [step.name, step]))
}, 300_000)
afterAll(async () => {
  hooks?.close()
  await stack?.service.stop()
})

/** Leaves of the recorded input, each with the value that this instance has in its place. */
function replacements(shown: unknown, live: unknown): readonly (readonly [string, string])[] {
  if (typeof shown === 'string' && typeof live === 'string') {
    return shown === live || shown === '' ? [] : [[shown, live]]
  }
  if (typeof shown !== 'object' || shown === null) return []
  return Object.entries(shown).flatMap(([field, value]) =>
    replacements(value, (live as Readonly<Record<string, unknown>> | null)?.[field]),
  )
}

function withLive(text: string, shown: Input, live: Input): string {
  return replacements(shown, live).reduce(
    (all, [from, to]) =>
      all.replaceAll(from, to).replaceAll(encodeURIComponent(from), encodeURIComponent(to)),
    text,
  )
}

const environment = async (apiKey?: string, token?: string) => ({
  COUNTERSIGN_URL: stack.service.dev().base_url,
  COUNTERSIGN_API_KEY: apiKey ?? stack.service.dev().keys.trade.secret,
  TOKEN: token ?? (await stack.service.token()),
})

/** The data of the first event of each type. */
async function eventsByType(): Promise<Readonly<Record<string, unknown>>> {
  const { json } = await stack.owner.get('/events?after=0&limit=100')
  const events = json.events as readonly { readonly type: string; readonly data: unknown }[]
  return Object.fromEntries(events.toReversed().map(({ type, data }) => [type, data]))
}

/** The names of the fields that an answer has. */
function shapeOf(answer: unknown): string {
  return Object.keys(answer ?? {})
    .toSorted()
    .join()
}

describe('the documented request of', () => {
  const blocks = blocksOfPage()

  test('no operation is left out', () => {
    expect([...steps.keys()].toSorted()).toEqual(NAMES.toSorted())
  })

  test('each operation answers 2xx when it is pasted, with the fields that the page shows', async () => {
    const wrong: Record<string, unknown> = {}
    for (const [name, step] of steps) {
      const { input, apiKey, token } = await step.prepare()
      const env = await environment(apiKey, token)
      const shown = RECORDED_EXAMPLES[name]
      const block = blocks.find(({ where }) => where === name)?.text ?? ''
      const text = RECORDS
        ? curlOf(name, input)
        : withLive(block, (shown?.input ?? {}) as Input, input)
      const { statuses, body } = await paste(text, env)
      const [status = 0] = statuses
      if (!areSuccesses(statuses)) wrong[name] = { status, body, text }
      else if (!RECORDS && shapeOf(body) !== shapeOf(shown?.answer)) {
        wrong[name] = { has: shapeOf(body), shown: shapeOf(shown?.answer) }
      }
      recorded[name] = recordedExample(input, status, body)
      await step.after?.(body)
    }
    expect(wrong).toEqual({})
    if (RECORDS) {
      const text = exampleFile(recorded, await eventsByType(), stack.service.dev(), hookUrl)
      writeFileSync('src/api/generated/recorded-examples.ts', text)
    }
  }, 600_000)
})

/** One status at the least: a command that printed none was not run. */
const areSuccesses = (statuses: readonly number[]) =>
  statuses.length > 0 && statuses.every((status) => status >= 200 && status <= 299)

describe('what is pasted from', () => {
  const played = documentedOperations(openApiDocument() as unknown as OpenApiDocument)

  test('the playground answers 2xx, for each operation', async () => {
    const wrong: Record<string, unknown> = {}
    for (const operation of played) {
      const step = steps.get(operation.name)
      if (step === undefined) throw new Error(`no step for ${operation.name}`)
      const { input, apiKey, token } = await step.prepare()
      const request = plannedRequest(operation, input, `played-${operation.name}`)
      const origin = stack.service.dev().base_url
      const key = `played-${operation.name}`
      const [curl] = snippetsOf(operation, input, request, key, origin)
      const { statuses, body } = await paste(curl?.text ?? '', await environment(apiKey, token))
      if (!areSuccesses(statuses)) wrong[operation.name] = { statuses, body, text: curl?.text }
    }
    expect(wrong).toEqual({})
  }, 300_000)

  test.each(['first-send', 'send-usdc', 'faults'])(
    'the guide %s answers 2xx, command by command',
    async (id) => {
      const sent = await stack.service.api().post('/api/tx/send', SEND)
      const env = { ...(await environment()), TX_ID: String(sent.json.tx_id) }
      const curls = blocksOfPage().filter(({ where, text }) => where === id && /\bcurl /.test(text))
      expect(curls).not.toEqual([])
      for (const { text } of curls) {
        const { statuses, body } = await paste(text, env)
        expect({ text, body, ok: areSuccesses(statuses) }).toMatchObject({ ok: true })
      }
    },
    300_000,
  )

  test.each(['README.md', 'GUIDE.md'])(
    '%s answers 2xx, command by command',
    async (document) => {
      const { base_url: url, keys, tokens } = stack.service.dev()
      const sent = await stack.service.api().post('/api/tx/send', SEND)
      const env = await environment()
      const commands = fencedBlocks(readFileSync(document, 'utf8'), '').flatMap(({ text }) =>
        promptedCommands(text).filter((command) => command.startsWith('curl ')),
      )
      expect(commands).not.toEqual([])
      for (const command of commands) {
        const text = command
          .replaceAll('http://127.0.0.1:8080', url)
          .replaceAll('sk_test_…', keys.trade.secret)
          .replaceAll('tx_01M…', String(sent.json.tx_id))
          .replaceAll('key_…', keys.read.key_id)
          .replaceAll('0x<token>', tokens[SEND.chain_id]?.USDC ?? '')
          .replaceAll('0x<payee>', SEND.to)
        const { statuses, body } = await paste(text, env)
        expect({ text, body, ok: areSuccesses(statuses) }).toMatchObject({ ok: true })
      }
    },
    60_000,
  )
})

/** As documents write it, for an operation of which nothing is recorded yet. */
function curlOf(name: string, input: Input): string {
  const row = rowOf(name)
  const path = row.path.replace(/:(\w+)/g, (_all, field: string) =>
    encodeURIComponent(String(input[field])),
  )
  const rest = Object.entries(input).filter(([field]) => !row.path.includes(`:${field}`))
  const isQuery = row.method === 'GET' || row.method === 'DELETE'
  const query = isQuery ? new URLSearchParams(rest.map(([k, v]) => [k, String(v)])) : null
  const url = `$COUNTERSIGN_URL${path}${query === null || query.size === 0 ? '' : `?${query}`}`
  const lines = [`curl -X ${row.method} "${url}"`]
  lines.push(
    'permission' in row
      ? '-H "X-Api-Key: $COUNTERSIGN_API_KEY"'
      : '-H "Authorization: Bearer $TOKEN"',
  )
  if ('presentsKey' in row) lines.push('-H "X-Api-Key: $COUNTERSIGN_API_KEY"')
  if (!isQuery && rest.length > 0) {
    lines.push('-H "Content-Type: application/json"')
    lines.push(`-d '${JSON.stringify(Object.fromEntries(rest))}'`)
  }
  return lines.join(' ')
}
