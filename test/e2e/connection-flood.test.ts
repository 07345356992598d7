import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DESCRIPTORS_RESERVED } from '../../src/http/open-files.js'
import { RawConnection } from './raw-connection.js'
import { type Stack, startStack } from './stack.js'

/** Of each process of the stack. */
const OPEN_FILES_MAX = 2_048
/** More than there are descriptors. */
const CONNECTIONS = 2_500
/** What comes between two looks leaves that much of the reserve. */
const FREE_MIN = DESCRIPTORS_RESERVED / 4

let stack: Stack
const flood: Socket[] = []
beforeAll(async () => {
  stack = await startStack({}, undefined, OPEN_FILES_MAX)
})
afterAll(async () => {
  for (const socket of flood) socket.destroy()
  await stack?.service.stop()
})

test.runIf(process.platform === 'linux')(
  'a flood of connections leaves the service its files, its sends, and its other callers',
  async () => {
    const { pids, keys, base_url: baseUrl } = stack.service.dev()
    const nodes = stack.service.nodes()
    const asked = nodes.find(({ isAsked }) => isAsked)
    const port = Number(new URL(baseUrl).port)
    const caller = new RawConnection(port, 0)
    const ask = async (method: string, path: string, body = '') => {
      const length = `Content-Length: ${body.length}\r\nContent-Type: application/json\r\n`
      const head = `${method} ${path} HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${keys.trade.secret}\r\n`
      const bytes = Buffer.from(`${head}${method === 'GET' ? '' : length}\r\n${body}`)
      const [reply] = await caller.ask(bytes, false)
      if (reply === undefined) throw new Error('the connection was closed')
      return { status: reply.status, json: JSON.parse(reply.body) }
    }
    expect((await ask('GET', '/api/limits')).status).toBe(200)

    let refused = 0
    for (let i = 0; i < CONNECTIONS; i++) {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => undefined)
      socket.on('close', () => {
        refused++
      })
      flood.push(socket)
      // What comes faster than it is accepted is accepted in one turn, and may use up the reserve.
      await new Promise<void>((resolve) => {
        for (const event of ['connect', 'close']) socket.once(event, () => resolve())
      })
    }
    await expect.poll(() => refused, { timeout: 60_000 }).toBeGreaterThan(0)
    const free = () => OPEN_FILES_MAX - readdirSync(`/proc/${asked?.pid}/fd`).length
    expect(free()).toBeGreaterThan(FREE_MIN)

    for (let value = 1; value <= 3; value++) {
      const to = '0x000000000000000000000000000000000000dEaD'
      const send = { chain_id: 8453, to, value: String(value), data: '0x' }
      const sent = await ask('POST', '/api/tx/send', JSON.stringify(send))
      expect(sent).toMatchObject({ status: 200, json: { status: 'broadcast' } })
      const status = async () => (await ask('GET', `/api/tx/${sent.json.tx_id}`)).json.status
      await expect.poll(status, { timeout: 60_000 }).toBe('confirmed')
      expect(free()).toBeGreaterThan(FREE_MIN)
    }

    for (const socket of flood.splice(0)) socket.destroy()
    const others = async () => (await stack.service.api().get('/api/limits')).status
    await expect.poll(() => others().catch(() => 0), { timeout: 60_000 }).toBe(200)
    caller.close()
    expect(stack.service.dev().pids).toEqual(pids)
    expect(stack.service.nodes()).toEqual(nodes)
  },
)
