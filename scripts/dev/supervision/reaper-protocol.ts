import type { ProcessIdentity } from './process-identity.js'

/** What the supervisor tells its reaper. */
export type ReaperMessage =
  | { readonly type: 'watch'; readonly process: ProcessIdentity }
  | { readonly type: 'forget'; readonly pid: number }
  /** Everything was stopped in order; nothing is left to do. */
  | { readonly type: 'dismiss' }
