/** Name of the worker's file, which the build inserts. */
declare const WORKER_FILE: string

/** The bundler puts style sheets into a separate file. */
declare module '*.css'
