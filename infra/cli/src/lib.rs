//! The operator's program, as a library: the local AWS, the phone and the commands.
