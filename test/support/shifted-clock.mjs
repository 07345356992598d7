/**
 * Preloaded by a process whose clock a test sets. `SHIFTED_CLOCK_FILE` holds by how many
 * milliseconds the clock of every thread is wrong. Without the file the clock is right.
 */
import { readFileSync } from 'node:fs'

const POLL_MS = 50
const MachineDate = globalThis.Date
const file = process.env.SHIFTED_CLOCK_FILE ?? ''
let shiftMs = 0

function look() {
  try {
    shiftMs = Number(readFileSync(file, 'utf8'))
  } catch {
    shiftMs = 0
  }
}
look()
setInterval(look, POLL_MS).unref()

globalThis.Date = class ShiftedDate extends MachineDate {
  constructor(...given) {
    if (given.length === 0) super(ShiftedDate.now())
    else super(...given)
  }

  static now() {
    return MachineDate.now() + shiftMs
  }
}
