import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { followFiles } from '../../src/link/follow-files.js'

let directory: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'cs-followed-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** @param looks that find the files of no use, before one that does not */
function follow(looks: number) {
  const path = join(directory, `of-${looks}`)
  writeFileSync(path, 'old')
  const seen = { taken: 0, refused: [] as string[], looks: 0 }
  const unfollow = followFiles([path], {
    take() {
      if (++seen.looks <= looks) throw new Error('one of the two is not there yet')
    },
    taken: () => void seen.taken++,
    refused: (reason) => void seen.refused.push(reason),
  })
  writeFileSync(path, 'another')
  return { seen, unfollow }
}

test('of two files one comes after the other, which is nothing to complain of', async () => {
  const { seen, unfollow } = follow(1)
  await expect.poll(() => seen.taken).toBe(1)
  expect(seen).toEqual({ taken: 1, refused: [], looks: 2 })
  unfollow()
})

test('what stays of no use is said once, and taken once it is of use', async () => {
  const { seen, unfollow } = follow(4)
  await expect.poll(() => seen.taken).toBe(1)
  expect(seen).toEqual({ taken: 1, refused: ['one of the two is not there yet'], looks: 5 })
  unfollow()
})
