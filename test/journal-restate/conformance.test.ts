import { afterAll, beforeAll, describe } from 'vitest'
import { describeJournal } from '../journal/conformance.js'
import { describeSnapshots } from '../journal/snapshot-conformance.js'
import { createRestateEngine, type RestateEngine } from '../support/restate-engine.js'

describeJournal('the journal in Restate, on one node', () => createRestateEngine(1))

describe('Restate on three nodes', () => {
  let engine: RestateEngine

  beforeAll(async () => {
    engine = await createRestateEngine(3)
  })
  afterAll(() => engine?.close())

  const open = () =>
    Promise.resolve({ connect: () => engine.connect(), close: () => Promise.resolve() })
  describeJournal('the journal', open)
  describeSnapshots('snapshots', open)
})
