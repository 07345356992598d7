import { concatHex, encodeFunctionData, type Hex, padHex, parseAbi } from 'viem'
import { afterAll, describe, expect, it } from 'vitest'
import { addressTextAt } from '../../src/screening/set/address-bytes.js'
import { buildAddressSet, findEntry, openAddressSet } from '../../src/screening/set/address-set.js'
import {
  CLEAN,
  callOf,
  fixedLists,
  LISTED,
  LISTED_HEX,
  packed,
  TARGET,
  testScreener,
  told,
} from './fixtures.js'

const screener = testScreener()
afterAll(() => screener.close())
const judge = async (data: Hex) => told(await screener.screen(callOf(data)))
const ascii = (text: string): Hex => `0x${Buffer.from(text).toString('hex')}`
const clean = CLEAN[0] ?? '0x'

describe('a listed address is found', () => {
  const unknown = '0xdeadbeef'
  it.each<[string, Hex]>([
    ['as the whole calldata', LISTED],
    ['at the last byte', concatHex([unknown, '0x0102030405', LISTED])],
    ['unaligned', concatHex([unknown, '0x01', LISTED, '0x02'])],
    ['left-aligned in a word', concatHex([unknown, padHex(LISTED, { dir: 'right' })])],
    ['with dirty upper bytes', concatHex([unknown, `0x${'ff'.repeat(12)}`, LISTED])],
    [
      'within a storage-packed word',
      concatHex([unknown, `0x01${'00'.repeat(7)}`, LISTED, '0x00000bb8']),
    ],
    ['as lower-case ASCII', concatHex([unknown, ascii(`=:b:${LISTED.toLowerCase()}`)])],
    ['as upper-case ASCII', concatHex([unknown, ascii(LISTED_HEX.toUpperCase())])],
    ['as ASCII at odd parity in a longer run', concatHex([unknown, ascii(`abc${LISTED_HEX}def`)])],
    ['as ASCII at the last byte', concatHex([unknown, '0x0000', ascii(LISTED_HEX)])],
    ['as ASCII at the first byte', ascii(LISTED_HEX)],
  ])('%s', async (_name, data) => {
    expect(await judge(data)).toMatch(/^blocked/)
  })

  it('when its trailing zeros are left out of the calldata', async () => {
    const zeros: Hex = '0x5fa9c1d2e3b4a5968778695a4b3c2d1e00000000'
    const other = testScreener({
      lists: fixedLists([{ name: 'zeros', kind: 'sanctions', addresses: [zeros] }]),
    })
    const cut = concatHex(['0xdeadbeef', `0x${zeros.slice(2, 34)}`])
    expect(told(await other.screen(callOf(cut)))).toBe('blocked zeros data@4')
    const transfer = concatHex(['0xa9059cbb', `0x${'00'.repeat(12)}`, `0x${zeros.slice(2, 34)}`])
    expect(told(await other.screen(callOf(transfer)))).toMatch(/^blocked/)
    await other.close()
  })

  it('at every offset of a word', async () => {
    for (let at = 0; at < 64; at++) {
      expect(await judge(concatHex([`0x${'5b'.repeat(at + 4)}`, LISTED, '0x99']))).toMatch(
        /^blocked/,
      )
    }
  })

  it('in raw bytes as well as hex', async () => {
    const bytes = Buffer.from(`deadbeef00${LISTED_HEX}`, 'hex')
    expect(told(await screener.screen(callOf(bytes)))).toBe('blocked test-list data@5')
  })

  it('in a transfer with dirty upper bytes, by its name', async () => {
    const dirty = concatHex(['0xa9059cbb', `0x${'ab'.repeat(12)}`, LISTED, padHex('0x01')])
    expect(await judge(dirty)).toBe('blocked test-list transfer.to')
  })
})

describe('a listed address does not leak from one call into the next', () => {
  it('after longer calldata of another call', async () => {
    await screener.screen(callOf(concatHex(['0xdeadbeef', '0x00', LISTED])))
    expect(await judge('0xdeadbeef')).toBe('clean')
    expect(await judge('0xdeadbeef00')).toBe('clean')
  })
})

describe('nesting', () => {
  const abi = parseAbi([
    'function multicall(bytes[] data)',
    'function multiSend(bytes transactions)',
    'function aggregate3((address target, bool allowFailure, bytes callData)[] calls)',
    'function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 a, uint256 b, uint256 c, address gasToken, address refundReceiver, bytes signatures)',
    'function exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountIn, uint256 amountOutMinimum, uint160 limit) params)',
  ])
  const zero = `0x${'00'.repeat(20)}` as const
  const swap = (recipient: Hex) =>
    encodeFunctionData({
      abi,
      functionName: 'exactInputSingle',
      args: [
        {
          tokenIn: clean,
          tokenOut: clean,
          fee: 500,
          recipient,
          amountIn: 1n,
          amountOutMinimum: 0n,
          limit: 0n,
        },
      ],
    })
  const multicall = (inner: Hex) =>
    encodeFunctionData({ abi, functionName: 'multicall', args: [['0x12210e8a', inner]] })
  const send = (inner: Hex) => {
    const one = (data: Hex) =>
      concatHex([
        '0x00',
        clean,
        padHex('0x'),
        padHex(`0x${((data.length - 2) / 2).toString(16)}`),
        data,
      ])
    return encodeFunctionData({
      abi,
      functionName: 'multiSend',
      args: [concatHex([one('0x'), one('0x'), one(inner)])],
    })
  }
  const safe = (inner: Hex) =>
    encodeFunctionData({
      abi,
      functionName: 'execTransaction',
      args: [clean, 0n, inner, 1, 0n, 0n, 0n, zero, zero, '0x'],
    })
  const aggregate = (inner: Hex) =>
    encodeFunctionData({
      abi,
      functionName: 'aggregate3',
      args: [[{ target: clean, allowFailure: false, callData: inner }]],
    })

  it('four deep names the way to the party', async () => {
    const call = (to: Hex) => aggregate(safe(send(multicall(swap(to)))))
    expect(await judge(call(clean))).toBe('clean')
    expect(await judge(call(LISTED))).toBe(
      'blocked test-list aggregate3[0].callData → execTransaction.data → multiSend[2] → multicall[1] → exactInputSingle.recipient',
    )
  })

  it('twelve deep decodes, thirteen is refused', async () => {
    let data = swap(clean)
    for (let i = 0; i < 12; i++) data = multicall(data)
    expect(await judge(data)).toBe('clean')
    expect(await judge(multicall(data))).toMatch(/^undecodable The calldata nests/)
  })

  it('refuses a known function deep inside that does not decode', async () => {
    expect(await judge(multicall(send(swap(clean).slice(0, 300) as Hex)))).toMatch(/^undecodable/)
  })

  it('keeps sentinels and zero recipients out of the parties', async () => {
    const sentinel = swap('0x0000000000000000000000000000000000000002')
    const { verdict, addresses } = await screener.inspect(callOf(sentinel))
    expect(told(verdict)).toBe('clean')
    expect(addresses.map(({ path }) => path)).toEqual([
      'to',
      'exactInputSingle.tokenIn',
      'exactInputSingle.tokenOut',
    ])
  })
})

describe('calldata that is not what it seems', () => {
  it.each<[string, string]>([
    ['an odd number of digits', '0xabc'],
    ['a bad digit', '0xzz'],
    ['no prefix', 'a9059cbb'],
    ['characters beyond Latin-1 that fold to digits', `0x\u0130\u0130`],
    ['a line break at the end', '0xab\n'],
  ])('refuses %s', async (_name, data) => {
    expect(await judge(data as Hex)).toMatch(/^undecodable The calldata is not whole bytes/)
  })

  it('refuses more than 128 KiB', async () => {
    expect(await judge(`0x${'00'.repeat(131_073)}`)).toMatch(/^undecodable/)
  })

  it('lets a path without fees pass, as forks of the router pack it', async () => {
    const abi = parseAbi([
      'function exactInput((bytes path, address recipient, uint256 deadline, uint256 amountIn, uint256 amountOutMinimum) params)',
    ])
    const swap = (path: Hex) =>
      encodeFunctionData({
        abi,
        functionName: 'exactInput',
        args: [{ path, recipient: clean, deadline: 1n, amountIn: 1n, amountOutMinimum: 0n }],
      })
    expect(await judge(swap(concatHex([clean, clean])))).toBe('clean')
    expect(await judge(swap(concatHex([clean, '0x01', clean])))).toBe('clean')
    expect(await judge(swap(concatHex([clean, LISTED])))).toBe(
      'blocked test-list exactInput.path[1]',
    )
  })

  it('lets calldata without a known selector pass', async () => {
    for (const data of [
      '0x',
      '0x00',
      '0xa9059c',
      '0xdeadbeef',
      '0x00000000',
      '0x0000000012',
    ] as const) {
      expect(await judge(data)).toBe('clean')
    }
  })

  it('takes the first four bytes sent to the deployment proxy for a salt', async () => {
    const proxy = { to: '0x4e59b44847b379578588920cA78FbF26c0B4956C' } as const
    const salted = concatHex(['0xa9059cbb', `0x${'11'.repeat(40)}`])
    expect(told(await screener.screen(callOf(salted, proxy)))).toBe('clean')
    const hidden = concatHex([salted, padHex(LISTED)])
    expect(told(await screener.screen(callOf(hidden, proxy)))).toMatch(/^blocked/)
  })

  it('refuses a target that is no address', async () => {
    expect(told(await screener.screen(callOf('0x', { to: '0x12' })))).toMatch(/^undecodable/)
  })
})

describe('addresses from outside the calldata', () => {
  it('are screened: the target', async () => {
    expect(told(await screener.screen(callOf('0x', { to: LISTED })))).toBe('blocked test-list to')
    const lower = LISTED.toLowerCase() as Hex
    expect(told(await screener.screen(callOf('0x', { to: lower })))).toBe('blocked test-list to')
  })

  it('are screened: what a simulation found', async () => {
    const extra = [
      { address: TARGET, path: 'simulated[0]' },
      { address: LISTED, path: 'simulated[1]' },
    ]
    expect(told(await screener.screen(callOf('0x', { extra })))).toBe(
      'blocked test-list simulated[1]',
    )
  })
})

describe('the address set', () => {
  it('keeps an address that is on several lists for the first of them, and those after it', () => {
    const [one, two, three, four] = ['11', '22', '33', '44'].map((byte) => byte.repeat(20))
    const part = (texts: (string | undefined)[], listIndex: number) => ({
      packed: packed(texts.map((text) => `0x${text}`)),
      listIndex,
    })
    const set = buildAddressSet([part([one, two, one], 0), part([two, three, one, four], 1)])
    const listOf = (text?: string) => set.listIndex[findEntry(set, packed([`0x${text}`]), 0)]
    expect(set.size).toBe(4)
    expect([one, two, three, four].map(listOf)).toEqual([0, 0, 1, 1])
  })

  it('is the same to a thread that opens it, also where lists share addresses', () => {
    const lists = [CLEAN.slice(0, 5), CLEAN.slice(3, 8), CLEAN]
    const built = buildAddressSet(
      lists.map((texts, listIndex) => ({ packed: packed(texts), listIndex })),
    )
    const opened = openAddressSet(built.buffer)
    expect(opened.size).toBe(CLEAN.length)
    for (const text of CLEAN) {
      const entry = findEntry(opened, packed([text]), 0)
      expect(entry).toBe(findEntry(built, packed([text]), 0))
      expect(opened.listIndex[entry]).toBe(built.listIndex[entry])
      expect(addressTextAt(opened.bytes, entry * 20)).toBe(text.toLowerCase())
    }
  })

  it('holds exactly what it was built from, also where keys and hashes collide', () => {
    const members = Array.from({ length: 5_000 }, (_, i) => {
      const head = (i * 2_654_435_761).toString(16).padStart(24, '0').slice(-24)
      return `0x${head}abcdef${i.toString(16).padStart(10, '0')}`
    })
    const set = buildAddressSet([{ packed: packed(members), listIndex: 0 }])
    expect(set.size).toBe(5_000)
    for (const member of members)
      expect(findEntry(set, packed([member]), 0)).toBeGreaterThanOrEqual(0)
    for (const member of members) {
      const near = packed([member])
      near[19] = (near[19] ?? 0) ^ 0x80
      near[0] = (near[0] ?? 0) ^ 1
      expect(findEntry(set, near, 0)).toBe(-1)
    }
  })
})
