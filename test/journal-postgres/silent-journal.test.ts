import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SinkStack, startSinkStack } from '../../bench/sink-stack.js'
import type { ErrorResponse } from '../../src/api/error-body.js'
import { httpClient, type Reply } from '../support/http-client.js'
import { createPostgres, type PostgresServer } from '../support/postgres-server.js'

const AGAIN = { timeout: 60_000 }

interface Send {
  readonly caller: number
  readonly to: string
  readonly key: string | null
}

/** A service whose Postgres stands still, as one does whose machine hangs: it refuses nothing. */
describe('callers under way when the journal falls silent', () => {
  let server: PostgresServer
  let directory: string
  let stack: SinkStack

  beforeAll(async () => {
    server = await createPostgres()
    directory = mkdtempSync(join(tmpdir(), 'cs-silent-'))
    const file = join(directory, 'journal.json')
    writeFileSync(file, JSON.stringify({ postgres: [server.url] }), { mode: 0o600 })
    const env = { COUNTERSIGN_JOURNAL_FILE: file, COUNTERSIGN_WORKERS: '2' }
    stack = await startSinkStack({ wallets: 4, env })
  })
  afterAll(async () => {
    server?.thaw()
    await stack?.stop()
    await server?.remove()
    rmSync(directory, { recursive: true, force: true })
  })

  const client = (caller: number) =>
    httpClient(stack.baseUrl, { 'x-api-key': stack.secrets[caller] ?? '' })

  function newSend(caller: number, key: string | null = null): Send {
    return { caller, key, to: `0x${randomBytes(20).toString('hex')}` }
  }

  const bodyOf = ({ to }: Send) => ({ chain_id: stack.chainId, to, value: '1' })

  const post = (send: Send): Promise<Reply> =>
    client(send.caller).post(
      '/api/tx/send',
      bodyOf(send),
      send.key === null ? {} : { 'idempotency-key': send.key },
    )

  async function overMcp(send: Send): Promise<ErrorResponse['error']> {
    const mcp = new Client({ name: 'test', version: '1' })
    const requestInit = { headers: { 'X-Api-Key': stack.secrets[send.caller] ?? '' } }
    const url = new URL(`${stack.baseUrl}/mcp`)
    await mcp.connect(new StreamableHTTPClientTransport(url, { requestInit }))
    try {
      const args = { ...bodyOf(send), idempotency_key: send.key }
      const result = await mcp.callTool({ name: 'send_transaction', arguments: args })
      const [text] = result.content as readonly { readonly text: string }[]
      expect(result.isError).toBe(true)
      return (JSON.parse(text?.text ?? '') as ErrorResponse).error
    } finally {
      await mcp.close()
    }
  }

  /** Asked again, under its key, until it is answered. */
  async function done(send: Send): Promise<Reply> {
    let last: Reply | undefined
    await expect
      .poll(async () => {
        last = await post(send)
        return last.status
      }, AGAIN)
      .toBeOneOf([200, 202])
    if (last === undefined) throw new Error('nothing was asked')
    return last
  }

  /** How many transactions pay it. */
  async function paid({ to }: Send): Promise<number> {
    const leader = httpClient(stack.baseUrl, { authorization: `Bearer ${stack.consoleToken}` })
    const { json } = await leader.get(`/api/v1/agent/transactions?search=${to}`)
    return json.transactions?.length ?? -1
  }

  test('are told that the outcome is unknown, and find it by their key or by the id', async () => {
    await done(newSend(3, randomUUID()))
    const [keyed, keyless, tool] = [newSend(0, randomUUID()), newSend(1), newSend(2, randomUUID())]
    server.freeze()
    // Answered while nothing can be stored: whatever it says rests on no disk.
    const answers = await Promise.all([post(keyed), post(keyless), overMcp(tool)])
    const [byKey, byId, byTool] = answers
    expect(byKey.status).toBe(504)
    expect(byKey.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(byKey.json.error).toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      message: expect.stringContaining('Idempotency-Key'),
      details: { reason: 'journal' },
    })
    expect(byKey.json.error?.details).not.toHaveProperty('tx_id')
    expect(byTool).toMatchObject({ code: 'OUTCOME_UNKNOWN', details: { reason: 'journal' } })
    expect(byId.status).toBe(504)
    const txId = byId.json.error?.details.tx_id
    expect(byId.json.error).toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      message: expect.stringContaining(String(txId)),
    })
    // While it is away nothing begins, and a repetition is not told that the first came to nothing.
    const again = await post(keyed)
    expect(again.code).toBe('WRITES_STOPPED')
    expect(again.json.error?.message).toContain('An earlier one')

    server.thaw()
    expect((await done(keyed)).headers.get('idempotency-replayed')).toBe('true')
    expect((await done(tool)).headers.get('idempotency-replayed')).toBe('true')
    await expect
      .poll(async () => (await client(1).get(`/api/tx/${String(txId)}`)).status, AGAIN)
      .toBe(200)
    for (const send of [keyed, keyless, tool]) expect(await paid(send)).toBe(1)
  })

  test('have their limits refused, and not called unknown', async () => {
    const before = newSend(0, randomUUID())
    await done(before)
    server.freeze()
    const [sent] = await Promise.all([
      post(newSend(0)),
      // Behind what the send has reserved.
      expect
        .poll(async () => (await client(0).get('/api/limits')).json.error, AGAIN)
        .toMatchObject({ code: 'WRITES_STOPPED', details: { reason: 'journal' } }),
    ])
    expect(sent.code).toBe('OUTCOME_UNKNOWN')
    server.thaw()
    await expect.poll(async () => (await client(0).get('/api/limits')).status, AGAIN).toBe(200)
  })

  test('are paid for once, though the service is killed before the journal is back', async () => {
    const sends = [0, 1, 2, 3].map((caller) => newSend(caller, randomUUID()))
    server.freeze()
    for (const { code } of await Promise.all(sends.map(post))) expect(code).toBe('OUTCOME_UNKNOWN')
    await stack.restartService(async () => server.thaw())
    for (const send of sends) {
      await done(send)
      expect(await paid(send)).toBe(1)
    }
  })
})
