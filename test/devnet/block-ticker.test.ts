import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { tickBlocks } from '../../scripts/dev/chains/block-ticker.js'

/** Asked so often, it is mined by somebody else; then no more. */
const HELD_TICKS = 2

test('a chain that somebody else mines is left to them, until it automines again', async () => {
  const asked: string[] = []
  const node = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const [{ id, method }] = JSON.parse(body)
    asked.push(method)
    const result = method === 'anvil_getAutomine' ? asked.length > HELD_TICKS : [{ number: '0x7' }]
    response.end(JSON.stringify([{ jsonrpc: '2.0', id, result }]))
  })
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
  const { port } = node.address() as AddressInfo
  let ticker: ReturnType<typeof tickBlocks> | undefined
  try {
    const mined = await new Promise<number>((resolve) => {
      ticker = tickBlocks(`http://127.0.0.1:${port}`, resolve)
    })
    expect(mined).toBe(7)
    expect(asked).toEqual([
      ...Array<string>(HELD_TICKS + 1).fill('anvil_getAutomine'),
      'evm_mine_detailed',
    ])
  } finally {
    await ticker?.stop()
    node.closeAllConnections()
    node.close()
  }
})
