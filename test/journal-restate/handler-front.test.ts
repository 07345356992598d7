import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HandlerFront, layHandlerFront } from '../../scripts/dev/restate/handler-front.js'
import type { Journal } from '../../src/journal/journal.js'
import { openRestateJournal } from '../../src/journal/restate-journal.js'
import { drawClaim } from '../journal/races.js'
import { storedInTheEnd } from '../journal/stored-in-the-end.js'
import { freePort } from '../support/ports.js'
import { createRestateCluster, type RestateCluster } from '../support/restate-cluster.js'
import { type Handler, startHandler } from '../support/restate-handler.js'

/** Much longer than another one takes to go on in a handler's place. */
const GOES_ON = { timeout: 30_000 }

const key = randomBytes(32)
let directory: string
let cluster: RestateCluster
let first: Handler
let second: Handler
let front: HandlerFront
let journal: Journal

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'cs-handlers-'))
  cluster = await createRestateCluster(1)
  const ports = [await freePort(), await freePort()]
  const files = ports.map((port) => {
    const restate = {
      ...{ ingresses: cluster.ingresses, key: key.toString('hex') },
      handler: { port },
    }
    const file = join(directory, `${port}.json`)
    writeFileSync(file, JSON.stringify({ restate }), { mode: 0o600 })
    return file
  })
  first = await startHandler(files[0] ?? '')
  second = await startHandler(files[1] ?? '')
  front = await layHandlerFront(ports, 0)
  await cluster.register(`http://127.0.0.1:${front.port}`)
  journal = await openRestateJournal(cluster.ingresses, key)
})
afterAll(async () => {
  await journal?.close()
  await cluster?.remove()
  await front?.close()
  first?.thaw()
  await Promise.all([first?.kill(), second?.kill()])
  rmSync(directory, { recursive: true, force: true })
})

test('while one of two handlers stands still the other goes on, and nothing is lost or doubled when it wakes', async () => {
  const { epoch } = await journal.acquire(1, 'one', drawClaim())
  const entries: string[] = []
  let isOver = false
  async function appendOnAndOn(): Promise<void> {
    while (!isOver) {
      const seq = entries.length + 1
      await storedInTheEnd(journal, { partition: 1, epoch, seq }, Buffer.from(`entry ${seq}`))
      entries.push(`entry ${seq}`)
    }
  }
  async function goesOn(): Promise<void> {
    const before = entries.length
    await expect.poll(() => entries.length, GOES_ON).toBeGreaterThan(before + 20)
  }
  const appending = appendOnAndOn()
  await goesOn()
  expect(front.passed()).toEqual([expect.any(Number), 0])

  first.freeze()
  await goesOn()
  // What was passed to the first is behind the answers of the second by now.
  first.thaw()
  await goesOn()
  await second.kill()
  await goesOn()

  isOver = true
  await appending
  const found = await journal.read(1, 0, 10_000_000)
  expect(found.map(({ body }) => Buffer.from(body).toString())).toEqual(entries.slice(0, 512))
}, 200_000)
