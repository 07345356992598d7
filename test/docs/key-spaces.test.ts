import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { KEY_SPACES } from '../../src/store/key-spaces.js'

test("the store's README has every key space under its subject", () => {
  const named = readFileSync('src/store/README.md', 'utf8')
  for (const space of Object.keys(KEY_SPACES)) expect(named).toContain(`\`${space}\``)
})
