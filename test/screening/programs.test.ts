/** Calls whose bytes are programs: one code a step, arguments apart. */
import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  parseAbi,
  parseAbiParameters,
} from 'viem'
import { afterAll, describe, expect, it } from 'vitest'
import { CLEAN, callOf, LISTED, testScreener, told } from './fixtures.js'

const screener = testScreener()
afterAll(() => screener.close())

const judge = async (data: Hex) => told(await screener.screen(callOf(data)))
const clean = CLEAN[4] ?? '0x'
const abi = parseAbi([
  'function execute(bytes commands, bytes[] inputs, uint256 deadline)',
  'function modifyLiquidities(bytes unlockData, uint256 deadline)',
  'function invoke(bytes32[] actions, bytes[] data)',
  'function transfer(address to, uint256 amount)',
])
const erc7579 = parseAbi(['function execute(bytes32 mode, bytes executionCalldata)'])
const args = (types: string, values: readonly unknown[]): Hex =>
  encodeAbiParameters(parseAbiParameters(types) as never, values as never)
const transfer = (to: Hex) => encodeFunctionData({ abi, functionName: 'transfer', args: [to, 5n] })

type Maker = (party: Hex) => Hex
const plan = (commands: Hex, inputs: readonly Hex[]) => args('bytes,bytes[]', [commands, inputs])
const routed = (commands: Hex, inputs: readonly Hex[]) =>
  encodeFunctionData({ abi, functionName: 'execute', args: [commands, inputs, 9n] })
const v4 = (actions: Hex, params: readonly Hex[]) =>
  encodeFunctionData({ abi, functionName: 'modifyLiquidities', args: [plan(actions, params), 9n] })
const bulker = (action: string, data: Hex) =>
  encodeFunctionData({
    abi,
    functionName: 'invoke',
    args: [[`0x${Buffer.from(action).toString('hex').padEnd(64, '0')}`], [data]],
  })
const executed = (mode: string, execution: Hex) =>
  encodeFunctionData({
    abi: erc7579,
    functionName: 'execute',
    args: [`0x${mode.padEnd(64, '0')}`, execution],
  })

const POOL_KEY = '(address,address,uint24,int24,address)'
const poolKey = (hooks: Hex) => [clean, clean, 500, 10, hooks]
const BATCH = '(address,uint256,bytes)[]'

const PROGRAMS: readonly (readonly [name: string, path: string, make: Maker])[] = [
  [
    'v3 swap recipient',
    'execute[0] → v3SwapExactIn.recipient',
    (p) =>
      routed('0x00', [
        args('address,uint256,uint256,bytes,bool', [
          p,
          1n,
          1n,
          concatHex([clean, '0x000bb8', clean]),
          true,
        ]),
      ]),
  ],
  [
    'v3 path token',
    'execute[0] → v3SwapExactIn.path[1]',
    (p) =>
      routed('0x80', [
        args('address,uint256,uint256,bytes,bool', [
          clean,
          1n,
          1n,
          concatHex([clean, '0x000bb8', p]),
          true,
        ]),
      ]),
  ],
  [
    'permit2 transfer after a wrap',
    'execute[1] → permit2TransferFrom.recipient',
    (p) =>
      routed('0x0b02', [
        args('address,uint256', [clean, 1n]),
        args('address,address,uint160', [clean, p, 1n]),
      ]),
  ],
  [
    'permit batch spender',
    'execute[0] → permit2PermitBatch.spender',
    (p) =>
      routed('0x03', [
        args('((address,uint160,uint48,uint48)[],address,uint256),bytes', [
          [[[clean, 1n, 1, 1]], p, 1n],
          '0x11',
        ]),
      ]),
  ],
  [
    'v2 path',
    'execute[0] → v2SwapExactIn.path[2]',
    (p) =>
      routed('0x08', [
        args('address,uint256,uint256,address[],bool', [clean, 1n, 1n, [clean, clean, p], false]),
      ]),
  ],
  [
    'sub-plan',
    'execute[0][1] → sweep.recipient',
    (p) =>
      routed('0x21', [
        plan('0x0c84', [
          args('address,uint256', [clean, 1n]),
          args('address,address,uint256', [clean, p, 1n]),
        ]),
      ]),
  ],
  [
    'v4 swap within the router',
    'execute[0][0] → takePortion.recipient',
    (p) => routed('0x10', [plan('0x10', [args('address,address,uint256', [clean, p, 1n])])]),
  ],
  ['position manager call', 'execute[0] → transfer.to', (p) => routed('0x14', [transfer(p)])],
  [
    'v4 take',
    'modifyLiquidities[0] → take.recipient',
    (p) => v4('0x0e', [args('address,address,uint256', [clean, p, 1n])]),
  ],
  [
    'v4 take pair',
    'modifyLiquidities[0] → takePair.recipient',
    (p) => v4('0x11', [args('address,address,address', [clean, clean, p])]),
  ],
  [
    'v4 mint owner',
    'modifyLiquidities[0] → mintPosition.owner',
    (p) =>
      v4('0x02', [
        args(`${POOL_KEY},int24,int24,uint256,uint128,uint128,address,bytes`, [
          poolKey(clean),
          -10,
          10,
          1n,
          1n,
          1n,
          p,
          '0x',
        ]),
      ]),
  ],
  [
    'v4 hooks',
    'modifyLiquidities[0] → swapExactInSingle.poolKey.hooks',
    (p) =>
      v4('0x06', [
        args(`(${POOL_KEY},bool,uint128,uint128,bytes)`, [[poolKey(p), true, 1n, 1n, '0x']]),
      ]),
  ],
  [
    'Bulker native withdrawal',
    'invoke[0].to',
    (p) => bulker('ACTION_WITHDRAW_NATIVE_TOKEN', args('address,address,uint256', [clean, p, 1n])),
  ],
  [
    'Bulker transfer',
    'invoke[0].to',
    (p) =>
      bulker(
        'ACTION_TRANSFER_ASSET',
        args('address,address,address,uint256', [clean, p, clean, 1n]),
      ),
  ],
  [
    '7579 single target',
    'execute.target',
    (p) => executed('00', concatHex([p, `0x${'00'.repeat(32)}`])),
  ],
  [
    '7579 single data',
    'execute → transfer.to',
    (p) => executed('00', concatHex([clean, `0x${'00'.repeat(32)}`, transfer(p)])),
  ],
  [
    '7579 batch',
    'execute[1].callData → transfer.to',
    (p) =>
      executed(
        '01',
        args(BATCH, [
          [
            [clean, 1n, '0x'],
            [clean, 0n, transfer(p)],
          ],
        ]),
      ),
  ],
  [
    '7579 delegate call',
    'execute → transfer.to',
    (p) => executed('ff', concatHex([clean, transfer(p)])),
  ],
  [
    '7821 batch of batches',
    'execute[1][0].target',
    (p) =>
      executed(
        '01000000000078210002',
        args('bytes[]', [[args(BATCH, [[[clean, 1n, '0x']]]), args(BATCH, [[[p, 1n, '0x']]])]]),
      ),
  ],
]

describe.each(PROGRAMS)('%s', (_name, path, make) => {
  it('passes without a listed address', async () => {
    expect(await judge(make(clean))).toBe('clean')
  })

  it('is blocked with one, and says where', async () => {
    expect(await judge(make(LISTED))).toBe(`blocked test-list ${path}`)
  })
})

describe('programs of another layout', () => {
  it('refuses commands without their inputs', async () => {
    expect(await judge(routed('0x0b0b', [args('address,uint256', [clean, 1n])]))).toMatch(/^undec/)
  })

  it('lets a command pass whose inputs a fork lays out in its own way', async () => {
    expect(await judge(routed('0x04', ['0x1122']))).toBe('clean')
    const packedPath = concatHex([clean, '0x01', clean])
    const fork = args('address,uint256,uint256,bytes,bool', [clean, 1n, 1n, packedPath, true])
    expect(await judge(routed('0x08', [fork]))).toBe('clean')
  })

  it('blocks a listed address in inputs that a fork lays out in its own way', async () => {
    const packedPath = concatHex([clean, '0x01', LISTED])
    const fork = args('address,uint256,uint256,bytes,bool', [clean, 1n, 1n, packedPath, true])
    expect(await judge(routed('0x08', [fork]))).toMatch(/^blocked/)
  })

  it('lets another meaning of the two types of an execution pass', async () => {
    expect(await judge(executed('00', '0x1122'))).toBe('clean')
    expect(await judge(executed('01', '0x112233'))).toBe('clean')
    expect(await judge(executed('42', '0x112233'))).toBe('clean')
  })

  it('refuses a known function within an execution that does not decode', async () => {
    const cut = `${transfer(clean).slice(0, 60)}` as Hex
    expect(await judge(executed('01', args(BATCH, [[[clean, 0n, cut]]])))).toMatch(/^undecodable/)
    const single = concatHex([clean, `0x${'00'.repeat(32)}`, cut])
    expect(await judge(executed('00', single))).toMatch(/^undecodable/)
  })

  it('lets unknown commands pass, as newer routers have them', async () => {
    expect(await judge(routed('0x3f', ['0x1122']))).toBe('clean')
  })

  it('lets a marketplace order of the first routers pass in place of a v4 swap', async () => {
    expect(await judge(routed('0x10', [args('uint256,bytes', [1n, '0x1122'])]))).toBe('clean')
  })

  it('blocks a listed address that an unknown command holds', async () => {
    expect(await judge(routed('0x3f', [concatHex(['0x11', LISTED])]))).toMatch(/^blocked/)
  })

  it('refuses sub-plans without end', async () => {
    let nested = plan('0x0b', [args('address,uint256', [clean, 1n])])
    for (let i = 0; i < 13; i++) nested = plan('0x21', [nested])
    expect(await judge(routed('0x21', [nested]))).toMatch(/^undecodable .*too deep/)
  })
})

describe('fields that count only when flagged', () => {
  const traits = (flag: bigint) =>
    encodeFunctionData({
      abi: parseAbi([
        'function fillOrderArgs((uint256,uint256,uint256,uint256,uint256,uint256,uint256,uint256) order, bytes32 r, bytes32 vs, uint256 amount, uint256 takerTraits, bytes args)',
      ]),
      functionName: 'fillOrderArgs',
      args: [
        [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n],
        `0x${'00'.repeat(32)}`,
        `0x${'00'.repeat(32)}`,
        1n,
        flag,
        concatHex([LISTED, '0x0102']),
      ],
    })

  it('names the 1inch target when the traits announce it', async () => {
    expect(await judge(traits(1n << 251n))).toBe('blocked test-list fillOrderArgs.target')
  })

  it('blocks a listed address there even when they do not', async () => {
    expect(await judge(traits(0n))).toMatch(/^blocked test-list data@/)
  })

  it('names the fee receiver that OKX appends', async () => {
    const call = encodeFunctionData({
      abi: parseAbi(['function unxswapByOrderId(uint256,uint256,uint256,bytes32[])']),
      functionName: 'unxswapByOrderId',
      args: [1n, 2n, 3n, [`0x${'00'.repeat(32)}`]],
    })
    const trailer = concatHex(['0x3ca20afc2aaa', '0x000000000064', LISTED])
    expect(await judge(concatHex([call, trailer]))).toBe(
      'blocked test-list unxswapByOrderId.commission',
    )
  })
})
