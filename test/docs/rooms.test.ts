import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PATHS } from './documents.js'

/** `ARCHITECTURE.md` lists the rooms from the bottom up. */

const SOURCES = PATHS.filter((path) => /^(src|actors)\/.*\.ts$/.test(path))

function roomOf(path: string): string {
  const [top = '', room = ''] = path.split('/')
  return top === 'actors' ? top : `${top}/${room}`
}

/** Row by row; rooms of one row may import each other. */
function listedRooms(): string[][] {
  const text = readFileSync('ARCHITECTURE.md', 'utf8')
  const section = text.split('## Rooms')[1]?.split('\n## ')[0] ?? ''
  return [...section.matchAll(/^\|([^|]+)\|/gm)].map(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, room = '']) => room),
  )
}

function importsOf(path: string): string[] {
  const imports = readFileSync(path, 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)
  return [...imports].map(([, target = '']) => join(dirname(path), target))
}

describe('the rooms of the architecture', () => {
  const rooms = listedRooms()
  const levelOf = (path: string) => rooms.findIndex((row) => row.includes(roomOf(path)))

  test('are all there are', () => {
    const there = SOURCES.map(roomOf).filter((room) => room !== 'src/main.ts')
    expect(new Set(rooms.flat())).toEqual(new Set(there))
  })

  test('import none below them in the list', () => {
    const upwards = SOURCES.filter((path) => path !== 'src/main.ts').flatMap((path) => {
      const below = importsOf(path).filter((target) => levelOf(target) > levelOf(path))
      return below.map((target) => `${path} imports ${target}`)
    })
    expect(upwards).toEqual([])
  })
})
