import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { prepareLoad, stateFiles, writeSnapshot } from '../../scripts/dev/chains/chain-state.js'
import { scratchDir } from './support/observer.js'

function stateAt(best: number, transactionsAt: readonly number[] = []): string {
  const blocks = Array.from({ length: best + 1 }, (_, number) => ({
    header: { number: `0x${number.toString(16)}` },
    transactions: transactionsAt.includes(number) ? ['tx'] : [],
  }))
  return JSON.stringify({ best_block_number: best, blocks, accounts: { kept: true } })
}

describe('the state that a chain starts from', () => {
  let scratch: ReturnType<typeof scratchDir>
  beforeEach(() => {
    scratch = scratchDir()
  })
  afterEach(() => scratch.dispose())

  const loaded = () => JSON.parse(readFileSync(stateFiles(scratch.path).load, 'utf8'))

  test('is none at first', () => {
    const files = stateFiles(scratch.path)
    expect(prepareLoad(files)).toBe(false)
    expect(existsSync(files.load)).toBe(false)
  })

  test('is the newer of snapshot and exit dump', async () => {
    const files = stateFiles(scratch.path)
    await writeSnapshot(files, gzipSync(stateAt(5)))
    writeFileSync(files.exitDump, stateAt(7))
    expect(prepareLoad(files)).toBe(true)
    expect(loaded().best_block_number).toBe(7)
    await writeSnapshot(files, gzipSync(stateAt(9)))
    prepareLoad(files)
    expect(loaded().best_block_number).toBe(9)
    expect(loaded().accounts).toEqual({ kept: true })
  })

  test('is the snapshot when the exit dump is torn', async () => {
    const files = stateFiles(scratch.path)
    await writeSnapshot(files, gzipSync(stateAt(5)))
    writeFileSync(files.exitDump, stateAt(7).slice(0, -20))
    expect(prepareLoad(files)).toBe(true)
    expect(loaded().best_block_number).toBe(5)
  })

  test('leaves out old blocks without transactions, and no other', async () => {
    const files = stateFiles(scratch.path)
    await writeSnapshot(files, gzipSync(stateAt(3_000, [17, 900])))
    prepareLoad(files)
    const numbers: number[] = loaded().blocks.map((block: { header: { number: string } }) =>
      Number(block.header.number),
    )
    expect(numbers.slice(0, 4)).toEqual([0, 17, 900, 3_000 - 1_024])
    expect(numbers).toHaveLength(3 + 1_025)
  })
})
