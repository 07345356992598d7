/** Lists reach worker threads: the owner publishes, each thread screens with the newest. */
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Publication } from '../../src/screening/lists/published-lists.js'
import { ListsPublisher } from '../../src/screening/lists/shared-lists.js'
import { buildAddressSet } from '../../src/screening/set/address-set.js'
import { CLEAN, callOf, packed } from './fixtures.js'

const [first = '', second = ''] = CLEAN
const publication = (addresses: readonly string[]): Omit<Publication, 'sequence'> => ({
  buffer: buildAddressSet([{ packed: packed(addresses), listIndex: 0 }]).buffer,
  lists: [],
  staleAtMs: null,
  unusable: null,
})

interface Answer {
  readonly sequence: number | null
  readonly found: readonly boolean[]
}

let publisher: ListsPublisher
let worker: Worker

beforeAll(() => {
  publisher = new ListsPublisher(publication([first]))
  const shared = publisher.share()
  const entry = new URL('./fixtures-lists-thread.mjs', import.meta.url)
  worker = new Worker(fileURLToPath(entry), {
    workerData: { shared, addresses: [first, second] },
    transferList: [shared.port],
  })
})

afterAll(async () => {
  await worker.terminate()
  publisher.close()
})

/** @param busy its first number is 1 while the thread's event loop stands still, until it is another */
async function ask(busy: Int32Array | null = null): Promise<Answer> {
  const answered = new Promise<Answer>((resolve) => worker.once('message', resolve))
  worker.postMessage({ busy })
  return answered
}

describe('a thread with a screener of its own', () => {
  it('walks large calldata in its own pool, and answers small calldata at once', async () => {
    const own = new ListsPublisher({
      ...publication([first]),
      lists: [
        {
          list: 'shared',
          kind: 'sanctions',
          source: 'test',
          version: 'v1',
          entries: 1,
          checkedAtMs: 0,
          maxAgeMs: null,
        },
      ],
    })
    const shared = own.share()
    const entry = new URL('./fixtures-screening-thread.mjs', import.meta.url)
    const shard = new Worker(fileURLToPath(entry), {
      workerData: { shared },
      transferList: [shared.port],
    })
    const judge = async (data: `0x${string}`) => {
      const answered = new Promise((resolve) => shard.once('message', resolve))
      shard.postMessage(callOf(data))
      return answered
    }
    const word = (hex: string) => hex.padStart(64, '0')
    const payments = (to: string) =>
      `0xe63d38ed${word('40')}${word((0x60 + 200 * 32).toString(16))}${word('c8')}${word(to).repeat(200)}${word('c8')}${word('1').repeat(200)}` as const
    expect(await judge('0x')).toMatchObject({ verdict: { outcome: 'clean' }, pooled: false })
    const clean = await judge(payments(second.slice(2)))
    expect(clean).toMatchObject({ verdict: { outcome: 'clean' }, pooled: true })
    const hit = { list: 'shared', path: 'disperseEther.recipients[0]' }
    expect(await judge(payments(first.slice(2)))).toMatchObject({ verdict: { hit }, pooled: true })
    await shard.terminate()
    own.close()
  })
})

describe('a thread that screens', () => {
  it('starts with the lists that were published when it was started', async () => {
    expect(await ask()).toEqual({ sequence: 1, found: [true, false] })
  })

  it('sees a publication at once, though it was made before the thread listened', async () => {
    publisher.publish(publication([second]))
    expect(await ask()).toEqual({ sequence: 2, found: [false, true] })
  })

  it('sees a publication made while it was busy and its event loop stood still', async () => {
    const busy = new Int32Array(new SharedArrayBuffer(4))
    const answer = ask(busy)
    await expect.poll(() => Atomics.load(busy, 0)).toBe(1)
    publisher.publish(publication([first, second]))
    publisher.publish(publication([first]))
    Atomics.store(busy, 0, 2)
    Atomics.notify(busy, 0)
    expect(await answer).toEqual({ sequence: 4, found: [true, false] })
  })
})
