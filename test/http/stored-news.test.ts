import { Agent, createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createAcceptingApp } from '../../src/http/node-http/node-app.js'
import { createStoredNews, type StoredNews } from '../../src/service/stored-news.js'

const EPOCH = 3

/** An owner and a node that waits, by a connection in the place of their link. */
describe('what an owner has stored', () => {
  let server: Server
  let agent: Agent
  let leader: StoredNews
  let epoch: number
  let port: number

  beforeEach(async () => {
    epoch = EPOCH
    agent = new Agent({ keepAlive: true })
    const { app, accept } = createAcceptingApp()
    leader = createStoredNews({ agent, leader: () => null })
    leader.answerOn(app)
    server = createServer().on('connection', () => undefined)
    server.removeAllListeners('connection')
    server.on('connection', (socket) => accept(socket))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  })
  afterEach(() => {
    agent.destroy()
    server.closeAllConnections()
    server.close()
  })

  const node = () => createStoredNews({ agent, leader: () => ({ host: '127.0.0.1', port, epoch }) })

  test('is told at once where it is more, and else as soon as it is', async () => {
    leader.stored(EPOCH, 5)
    const waits = node()
    expect(await waits.storedAfter(4)).toBe(5)
    const next = waits.storedAfter(5)
    await new Promise((resolve) => setTimeout(resolve, 50))
    leader.stored(EPOCH, 6)
    expect(await next).toBe(6)
    expect(await Promise.all([node(), node()].map((each) => each.storedAfter(1)))).toEqual([6, 6])
  })

  test('is told without news after a while, and when the owner ends', async () => {
    leader.stored(EPOCH, 5)
    expect(await node().storedAfter(5)).toBe(5)
    const last = node().storedAfter(5)
    await new Promise((resolve) => setTimeout(resolve, 50))
    leader.close()
    expect(await last).toBe(5)
  })

  test('is not told of another owner, nor by one that is not reached', async () => {
    leader.stored(EPOCH, 5)
    epoch = EPOCH + 1
    expect(await node().storedAfter(0)).toBe(0)
    expect(await createStoredNews({ agent, leader: () => null }).storedAfter(0)).toBe(0)
    server.close()
    agent.destroy()
    expect(await node().storedAfter(0)).toBe(0)
  })

  test('is not told to callers whose requests come by the link', async () => {
    leader.stored(EPOCH, 5)
    const url = `http://127.0.0.1:${port}/_node/stored/${EPOCH}/0`
    expect((await fetch(url)).status).toBe(200)
    const passedOn = await fetch(url, { headers: { 'x-forwarded-for': '192.0.2.1' } })
    expect(passedOn.status).toBe(404)
  })
})
