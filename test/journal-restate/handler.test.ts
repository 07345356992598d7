import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Journal } from '../../src/journal/journal.js'
import { openRestateJournal } from '../../src/journal/restate-journal.js'
import { drawClaim } from '../journal/races.js'
import { storedInTheEnd } from '../journal/stored-in-the-end.js'
import { freePort } from '../support/ports.js'
import { createRestateCluster, type RestateCluster } from '../support/restate-cluster.js'
import { type Handler, startHandler } from '../support/restate-handler.js'

const GONE_MS = 3_000

/** `countersign cluster handler` as an operator runs it, for a cluster that signs what it asks. */
describe('the handler of a cluster', () => {
  const key = randomBytes(32)
  let directory: string
  let file: string
  let cluster: RestateCluster
  let handler: Handler
  let journal: Journal

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'cs-handler-'))
    const pem = join(directory, 'identity.pem')
    const { privateKey } = generateKeyPairSync('ed25519')
    writeFileSync(pem, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
    cluster = await createRestateCluster(1, () => [
      `request-identity-private-key-pem-file = "${pem}"`,
    ])
    // It says at its start by which key others know it.
    const [identity] = /publickeyv1_\w+/.exec(cluster.nodes[0]?.said() ?? '') ?? []
    expect(identity).toBeDefined()
    file = join(directory, 'journal.json')
    const settings = {
      ingresses: cluster.ingresses,
      key: key.toString('hex'),
      handler: { port: await freePort(), identity_keys: [identity] },
    }
    writeFileSync(file, JSON.stringify({ restate: settings }), { mode: 0o600 })
    handler = await startHandler(file)
    await cluster.register(handler.url)
    journal = await openRestateJournal(cluster.ingresses, key)
  })
  afterAll(async () => {
    await journal?.close()
    await cluster?.remove()
    await handler?.kill()
    rmSync(directory, { recursive: true, force: true })
  })

  test('answers what its cluster signed, and nobody else', async () => {
    const { epoch } = await journal.acquire(1, 'one', drawClaim())
    const at = { partition: 1, epoch, seq: 1 }
    expect(await journal.append(at, Buffer.from('entry'))).toEqual({ kind: 'stored' })
    expect(await statusOf(handler.url, '/discover')).toBe(401)
    expect(await statusOf(handler.url, '/invoke/CountersignJournal1/append')).toBe(401)
  })

  test('whoever reaches the ingress without the key of the journal is refused', async () => {
    const stranger = openRestateJournal(cluster.ingresses, randomBytes(32))
    await expect(stranger).rejects.toMatchObject({
      cause: expect.objectContaining({ message: expect.stringContaining('403') }),
    })
    const bare = await fetch(`${cluster.ingresses[0]}/CountersignJournal1/1/read`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body: randomBytes(100),
    })
    expect(bare.status).toBe(403)
  })

  test('that is killed loses nothing: appends wait until it is back', async () => {
    const { epoch } = await journal.acquire(2, 'one', drawClaim())
    const entries: string[] = []
    let isOver = false
    async function appendOnAndOn(): Promise<void> {
      while (!isOver) {
        const seq = entries.length + 1
        await storedInTheEnd(journal, { partition: 2, epoch, seq }, Buffer.from(`entry ${seq}`))
        entries.push(`entry ${seq}`)
      }
    }
    const appending = appendOnAndOn()
    await expect.poll(() => entries.length).toBeGreaterThan(20)
    await handler.kill()
    await new Promise((resolve) => setTimeout(resolve, GONE_MS))
    const startedAt = performance.now()
    const before = entries.length
    handler = await startHandler(file)
    await expect.poll(() => entries.length).toBeGreaterThan(before)
    const tookMs = Math.round(performance.now() - startedAt)
    process.stdout.write(`from the handler's start until an append was stored: ${tookMs} ms\n`)
    isOver = true
    await appending
    const found = await journal.read(2, 0, 10_000_000)
    expect(found.map(({ body }) => Buffer.from(body).toString())).toEqual(entries.slice(0, 512))
  })

  test('ends when it is told to', async () => {
    expect(await handler.stop()).toBe(0)
    handler = await startHandler(file)
  })
})

async function statusOf(url: string, path: string): Promise<number> {
  const session = connect(url)
  try {
    return await new Promise<number>((resolve, reject) => {
      session.once('error', reject)
      const stream = session.request({
        ':path': path,
        ':method': path === '/discover' ? 'GET' : 'POST',
      })
      stream.once('error', reject)
      stream.once('response', (headers) => resolve(Number(headers[':status'])))
      stream.end()
    })
  } finally {
    session.destroy()
  }
}
