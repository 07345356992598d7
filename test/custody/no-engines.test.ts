import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startChild } from '../../bench/child-process.js'
import { issuerOf, type SinkStack, startSinkStack } from '../../bench/sink-stack.js'
import { httpClient } from '../support/http-client.js'

const TIMEOUT_MS = 120_000
const SLOW = { timeout: 30_000 }

/** As where optional packages were left out. */
describe('without a package of any engine', () => {
  let stack: SinkStack
  let directory: string
  const before = process.env.BENCH_NODE_ARGUMENTS

  beforeAll(async () => {
    process.env.BENCH_NODE_ARGUMENTS = '--import ./test/support/no-engines.mjs'
    directory = mkdtempSync(join(tmpdir(), 'cs-no-engines-'))
    stack = await startSinkStack({ wallets: 1 })
  }, TIMEOUT_MS)
  afterAll(async () => {
    if (before === undefined) delete process.env.BENCH_NODE_ARGUMENTS
    else process.env.BENCH_NODE_ARGUMENTS = before
    await stack?.stop()
    rmSync(directory, { recursive: true, force: true })
  })

  test('a service with its own store alone sends', async () => {
    const api = httpClient(stack.baseUrl, { 'x-api-key': stack.secrets[0] ?? '' })
    const to = `0x${randomBytes(20).toString('hex')}`
    const sent = await api.post('/api/tx/send', { chain_id: stack.chainId, to, value: '1' })
    expect(sent.status, sent.text).toBe(200)
    const status = async () => (await api.get(`/api/tx/${sent.json.tx_id}`)).json.status
    await expect.poll(status, SLOW).toBe('confirmed')
  })

  test(
    'one that is to have a journal says which package it lacks',
    async () => {
      const file = join(directory, 'journal.json')
      writeFileSync(file, JSON.stringify({ postgres: ['postgres://one/x'] }), { mode: 0o600 })
      let said = ''
      await stack.restartService(async () => {
        const told = { COUNTERSIGN_HOME: stack.home, COUNTERSIGN_JOURNAL_FILE: file, PORT: '0' }
        const env = { ...told, IDENTITY_ISSUER: issuerOf(stack.home) }
        said = await startChild('dist/src/main.js', env).then(
          async (child) => {
            await child.kill()
            return 'it started'
          },
          (error: Error) => error.message,
        )
      })
      expect(said).toMatch(/package.*pg/)
    },
    TIMEOUT_MS,
  )
})
