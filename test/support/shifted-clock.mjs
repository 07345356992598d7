import { readFileSync } from 'node:fs'

/**
 * Loaded before a process of the service (`--import`): its machine's clock is wrong by the number
 * of milliseconds in the file that SHIFTED_CLOCK_FILE names. Monotonic clocks are as they are.
 */
const RealDate = Date
const path = process.env.SHIFTED_CLOCK_FILE ?? ''
const READ_EVERY_MS = 20
let shiftMs = 0

function read() {
  try {
    shiftMs = Number(readFileSync(path, 'utf8')) || 0
  } catch {
    shiftMs = 0
  }
}

read()
setInterval(read, READ_EVERY_MS).unref()

globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length === 0 ? [RealDate.now() + shiftMs] : given))
  }

  static now() {
    return RealDate.now() + shiftMs
  }
}
