import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type KeptFile, keepWriting } from '../../scripts/dev/supervision/kept-writing.js'

const directory = mkdtempSync(join(tmpdir(), 'cs-kept-'))
const folder = join(directory, 'folder')
const path = join(folder, 'state')
let kept: KeptFile | null = null

afterEach(() => {
  kept?.close()
  rmSync(directory, { recursive: true, force: true })
})

test('a file that cannot be written is said once, and written as things are once it can be', async () => {
  const said: string[] = []
  let state = 'first'
  kept = keepWriting(
    'the file',
    () => writeFileSync(path, state),
    (line) => said.push(line),
  )
  kept.refresh()
  state = 'second'
  kept.refresh()
  expect(existsSync(path)).toBe(false)
  expect(said).toEqual([expect.stringContaining('cannot be written')])
  mkdirSync(folder)
  await expect.poll(() => existsSync(path)).toBe(true)
  expect(readFileSync(path, 'utf8')).toBe('second')
  expect(said.at(-1)).toContain('written again')
})
