//! Integer dot products of 256 bytes, by the widest instructions the processor has.
//!
//! All ways give the same integers: products of bytes summed in 32 bits cannot overflow (256 * 127 * 127 is below 2^23),
//! and integer sums do not depend on their order. The one file with `unsafe` code: what needs it is reading 16 bytes at a
//! time through a pointer, and calling a function compiled for AVX2 after asking the processor whether it has it.
#![allow(unsafe_code)]

use crate::vector::DIMS;

/// A query's components, widened once so that a scan need not.
pub(crate) type Wide = [i16; DIMS];

pub(crate) fn widen(components: &[i8; DIMS]) -> Wide {
    components.map(i16::from)
}

pub(crate) fn dot(query: &Wide, row: &[i8; DIMS]) -> i32 {
    let mut found = 0;
    scan(query, std::slice::from_ref(row), |product| found = product);
    found
}

/// Calls `each` with the product of `query` and every row, in order.
pub(crate) fn scan(query: &Wide, rows: &[[i8; DIMS]], each: impl FnMut(i32)) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor was just asked and has AVX2.
        unsafe { x86::scan_avx2(query, rows, each) }
    } else {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe { x86::scan_sse2(query, rows, each) }
    }
    #[cfg(target_arch = "aarch64")]
    rows.iter()
        .map(|row| arm::dot_neon(query, row))
        .for_each(each);
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    rows.iter().map(|row| dot_scalar(query, row)).for_each(each);
}

#[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn dot_scalar(query: &Wide, row: &[i8; DIMS]) -> i32 {
    query
        .iter()
        .zip(row)
        .map(|(&q, &r)| i32::from(q) * i32::from(r))
        .sum()
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{DIMS, Wide};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx2")]
    pub(super) fn scan_avx2(query: &Wide, rows: &[[i8; DIMS]], mut each: impl FnMut(i32)) {
        for row in rows {
            each(dot_avx2(query, row));
        }
    }

    #[target_feature(enable = "sse2")]
    pub(super) fn scan_sse2(query: &Wide, rows: &[[i8; DIMS]], mut each: impl FnMut(i32)) {
        for row in rows {
            each(dot_sse2(query, row));
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn dot_avx2(query: &Wide, row: &[i8; DIMS]) -> i32 {
        let mut sums = [_mm256_setzero_si256(); 2];
        for block in 0..DIMS / 32 {
            for (half, sum) in sums.iter_mut().enumerate() {
                let at = block * 32 + half * 16;
                // SAFETY: `at` is at most DIMS - 16, so 16 components from there lie within both arrays.
                let (q, r) = unsafe {
                    (
                        _mm256_loadu_si256(query.as_ptr().add(at).cast()),
                        _mm_loadu_si128(row.as_ptr().add(at).cast()),
                    )
                };
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(q, _mm256_cvtepi8_epi16(r)));
            }
        }
        let sum = _mm256_add_epi32(sums[0], sums[1]);
        let half = _mm_add_epi32(
            _mm256_castsi256_si128(sum),
            _mm256_extracti128_si256::<1>(sum),
        );
        let quarter = _mm_add_epi32(half, _mm_shuffle_epi32::<0b01_00_11_10>(half));
        _mm_cvtsi128_si32(_mm_add_epi32(
            quarter,
            _mm_shuffle_epi32::<0b10_11_00_01>(quarter),
        ))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn dot_sse2(query: &Wide, row: &[i8; DIMS]) -> i32 {
        let mut sum = _mm_setzero_si128();
        for at in (0..DIMS).step_by(16) {
            // SAFETY: `at` is at most DIMS - 16, so 16 components from there lie within both arrays.
            let (low, high, r) = unsafe {
                (
                    _mm_loadu_si128(query.as_ptr().add(at).cast()),
                    _mm_loadu_si128(query.as_ptr().add(at + 8).cast()),
                    _mm_loadu_si128(row.as_ptr().add(at).cast()),
                )
            };
            // A byte unpacked with itself is the byte in both halves; an arithmetic shift leaves it sign-extended.
            let r_low = _mm_srai_epi16::<8>(_mm_unpacklo_epi8(r, r));
            let r_high = _mm_srai_epi16::<8>(_mm_unpackhi_epi8(r, r));
            sum = _mm_add_epi32(sum, _mm_madd_epi16(low, r_low));
            sum = _mm_add_epi32(sum, _mm_madd_epi16(high, r_high));
        }
        let half = _mm_add_epi32(sum, _mm_shuffle_epi32::<0b01_00_11_10>(sum));
        _mm_cvtsi128_si32(_mm_add_epi32(
            half,
            _mm_shuffle_epi32::<0b10_11_00_01>(half),
        ))
    }
}

#[cfg(target_arch = "aarch64")]
mod arm {
    use super::{DIMS, Wide};
    use std::arch::aarch64::*;

    /// NEON belongs to every AArch64 processor this crate is built for.
    pub(super) fn dot_neon(query: &Wide, row: &[i8; DIMS]) -> i32 {
        // SAFETY: NEON is part of the target, and `at` is at most DIMS - 8, so 8 components from there lie within both
        // arrays.
        unsafe {
            let mut sum = vdupq_n_s32(0);
            for at in (0..DIMS).step_by(8) {
                let q = vld1q_s16(query.as_ptr().add(at));
                let r = vmovl_s8(vld1_s8(row.as_ptr().add(at)));
                sum = vmlal_s16(sum, vget_low_s16(q), vget_low_s16(r));
                sum = vmlal_s16(sum, vget_high_s16(q), vget_high_s16(r));
            }
            vaddvq_s32(sum)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn components() -> impl Strategy<Value = [i8; DIMS]> {
        proptest::collection::vec(-127i8..=127, DIMS).prop_map(|v| v.try_into().unwrap())
    }

    fn check(a: &[i8; DIMS], b: &[i8; DIMS]) {
        let query = widen(a);
        let expected = dot_scalar(&query, b);
        assert_eq!(dot(&query, b), expected, "the way this processor takes");
        #[cfg(target_arch = "x86_64")]
        {
            let mut found = None;
            // SAFETY: every x86-64 processor has SSE2.
            unsafe {
                x86::scan_sse2(&query, std::slice::from_ref(b), |product| {
                    found = Some(product)
                })
            };
            assert_eq!(found, Some(expected), "sse2");
        }
    }

    proptest! {
        #[test]
        fn every_way_gives_the_same_product(a in components(), b in components()) {
            check(&a, &b);
        }
    }

    #[test]
    fn extremes_do_not_overflow() {
        for (a, b) in [(127, 127), (-127, -127), (127, -127), (0, 127)] {
            check(&[a; DIMS], &[b; DIMS]);
        }
        assert_eq!(dot(&widen(&[-127; DIMS]), &[127; DIMS]), -256 * 127 * 127);
    }

    #[test]
    fn every_component_counts_once() {
        for place in 0..DIMS {
            let (mut a, mut b) = ([0; DIMS], [1; DIMS]);
            a[place] = 3;
            b[place] = -5;
            check(&a, &b);
            assert_eq!(dot(&widen(&a), &b), -15, "component {place}");
        }
    }
}
