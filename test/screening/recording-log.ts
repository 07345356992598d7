import type { ListLog } from '../../src/screening/lists/list-owner.js'

export interface RecordingLog extends ListLog {
  readonly lines: { readonly level: string; readonly text: string }[]
  at(level: string): string[]
}

/** Keeps what was logged, so that a test can ask whether operators were told. */
export function recordingLog(): RecordingLog {
  const lines: { readonly level: string; readonly text: string }[] = []
  const take = (level: string) => (facts: object, message: string) => {
    lines.push({ level, text: `${message} ${JSON.stringify(facts)}` })
  }
  return {
    lines,
    info: take('info'),
    warn: take('warn'),
    error: take('error'),
    at: (level) => lines.filter((line) => line.level === level).map((line) => line.text),
  }
}
