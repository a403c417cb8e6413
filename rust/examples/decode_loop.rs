// SPDX-License-Identifier: Apache-2.0
//! A decode loop over arcalloc in one page: tensors of fixed sizes and one buffer that grows by concatenation, as in an
//! eager engine. Settings come from the environment where they are set. Prints what the build is, a step report every 16
//! steps, and what it came to.

use arcalloc::{Allocator, Block, Device, Error, Options, Phase, Severity, Stream};

const KIB: usize = 1024;

/// One decode step: two passing tensors, and a cache that is one position longer than before. The old cache has to be
/// alive while the new one is filled.
fn decode_step<'a>(
    memory: &'a Allocator,
    position: usize,
    cache: &mut Option<Block<&'a Allocator>>,
) -> Result<(), Error> {
    let _hidden = memory.allocate(8 * KIB, Stream::DEFAULT)?;
    let _scores = memory.allocate(64 * position, Stream::DEFAULT)?;
    let longer = memory.allocate(64 * KIB * position, Stream::DEFAULT)?;
    // The arithmetic would be here.
    *cache = Some(longer);
    memory.end_step()
}

fn main() -> Result<(), Error> {
    let build = arcalloc::built_as();
    println!("arcalloc {}, commit {} ({})", build.version, build.commit, build.dirty);

    let mut options = Options::new().stats_every_steps(16).sink(|line| println!("{line}"));
    options.read_environment(|severity, line| {
        eprintln!("decode_loop: {}{line}", if severity == Severity::Warning { "warning: " } else { "" });
    })?;
    let device = Device::host(1 << 30)?;
    let memory = Allocator::new(&device, &options)?;

    memory.begin_phase(Phase::Decode)?;
    let mut cache = None;
    for position in 1..=64 {
        decode_step(&memory, position, &mut cache)?;
    }
    drop(cache);

    let total = memory.counters();
    println!(
        "{} requests, {} driver allocations, {} bytes reserved at most",
        total.requests, total.driver_allocs, total.reserved_bytes_peak
    );
    Ok(())
}
